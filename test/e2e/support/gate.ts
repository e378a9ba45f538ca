import { setTimeout as sleep } from 'node:timers/promises';

/** A promise that a test fulfils. */
export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

export function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    opened,
    open: () => {
      open();
    },
  };
}

/** The promise's value, if it comes within so many milliseconds. @throws Error otherwise */
export async function within<T>(milliseconds: number, promise: Promise<T> | undefined): Promise<T> {
  const late = new AbortController();
  const limit = sleep(milliseconds, undefined, { signal: late.signal }).then(() => {
    throw new Error(`expected it within ${milliseconds} ms`);
  });
  limit.catch(() => undefined); // the abort below
  if (!promise) throw new Error('expected a promise: what it belongs to did not happen');
  try {
    return await Promise.race([promise, limit]);
  } finally {
    late.abort();
  }
}
