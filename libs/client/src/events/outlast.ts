import { RetryableError } from '@jetloop/messaging';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 200;

/**
 * Asks again while the server gives no answer, for `patienceMs` from the first failure on: a server that restarts is away
 * for some seconds. @throws what the last try failed with, and at once anything that is no RetryableError
 */
export async function outlast<T>(ask: () => Promise<T>, patienceMs: number, signal?: AbortSignal): Promise<T> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RetryableError) || signal?.aborted || performance.now() >= end) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
