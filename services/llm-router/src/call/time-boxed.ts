import { createContext, Script } from 'node:vm';

const room: { work: () => void } = { work: () => undefined };
const context = createContext(room);
const script = new Script('work()');

/**
 * Runs work in this thread for at most so many milliseconds, a pattern that backtracks included: the engine stops it.
 * undefined: it was stopped, or it threw (a schema that is its own part overflows the stack).
 */
export function timeBoxed<T>(work: () => T, milliseconds: number): { readonly value: T } | undefined {
  let done: { readonly value: T } | undefined;
  room.work = () => {
    done = { value: work() };
  };
  try {
    script.runInContext(context, { timeout: milliseconds });
  } catch {
    return undefined; // no value is all that the caller has to know
  }
  return done;
}
