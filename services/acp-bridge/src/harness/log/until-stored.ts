import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_MS = 500;

/** Tries until it is stored: an attempt does not end because the servers are away. @throws once the signal aborts */
export async function untilStored<T>(signal: AbortSignal, store: (tries: number) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await store(tries);
    } catch (error) {
      if (signal.aborted) throw error;
      await sleep(RETRY_MS);
    }
  }
}
