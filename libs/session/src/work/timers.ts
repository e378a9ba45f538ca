import { digestOf } from '../digest.js';

/** Names of timers: each holds what it is for, since timers are never cancelled. */
export const timers = {
  /** Ends a cancelled turn whose workers do not answer. */
  cancel: (turn: number) => `cancel-${turn}`,
  /** Ends a turn that takes too long. */
  deadline: (turn: number) => `deadline-${turn}`,
  /** Ends a question to a person. */
  approval: (approvalId: string) => timerName(`approval-${approvalId}`),
  /** Sends work again that a worker deferred; `what` and `attempt` are those of the next command. */
  deferral: (turn: number, step: number, what: string, attempt: number) =>
    timerName(`deferred-${turn}-${step}-${what.replaceAll('.', '_')}-${attempt}`),
  /** Gives up a child. */
  child: (turn: number, step: number, n: number) => `child-${turn}-${step}-${n}`,
} as const;

/** RFC 3339, `milliseconds` later. */
export function plus(at: string, milliseconds: number): string {
  return new Date(Date.parse(at) + milliseconds).toISOString();
}

/** A name is a subject token: a long one is hashed. */
function timerName(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 16)}-${digestOf(name).slice(0, 40)}`;
}
