import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Pauses between tries, twice as long each time, up to 5 s; `reset` after a success. */
export class Backoff {
  private next = FIRST_PAUSE_MS;

  /** Returns early when the signal aborts. */
  async pause(signal: AbortSignal): Promise<void> {
    const pause = this.next;
    this.next = Math.min(pause * 2, LONGEST_PAUSE_MS);
    await pauseFor(pause, signal);
  }

  reset(): void {
    this.next = FIRST_PAUSE_MS;
  }
}

/** Waits so many milliseconds, or until the signal aborts. */
export async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(milliseconds, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error; // the pause was cut short, as asked
  }
}

/** Waits for a promise, but no longer than this. */
export async function atMost(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  const settle = promise.finally(() => {
    settled.abort();
  });
  await Promise.race([settle, pauseFor(milliseconds, settled.signal)]);
}
