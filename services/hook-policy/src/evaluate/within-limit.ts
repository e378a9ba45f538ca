import { linkedSignal } from '@jetloop/platform';

/** Runs work whose signal aborts with the one that is given, or with the error of `late` after so many milliseconds. */
export async function withinLimit<T>(
  signal: AbortSignal,
  milliseconds: number,
  late: () => Error,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = linkedSignal(signal);
  const timer = setTimeout(() => {
    limit.abort(late());
  }, milliseconds);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
    limit.unlink();
  }
}
