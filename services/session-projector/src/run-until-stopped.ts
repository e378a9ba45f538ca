import type { Backoff } from './backoff.js';
import { ProjectorStoppedError } from './projector-stopped-error.js';

/** What both projections may come to. */
export type RunState =
  /** Something that it needs is away: it tries again. */
  | { readonly status: 'waiting'; readonly error: Error }
  /** It does not go on by itself. */
  | { readonly status: 'stopped'; readonly error: ProjectorStoppedError }
  | { readonly status: 'ended' };

interface Run {
  readonly signal: AbortSignal;
  readonly backoff: Backoff;
  readonly become: (state: RunState) => void;
}

/** Does the work again and again until the signal aborts, or until it must stop for good. Never rejects. */
export async function runUntilStopped(work: () => Promise<void>, { signal, backoff, become }: Run): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      if (error instanceof ProjectorStoppedError) {
        become({ status: 'stopped', error });
        return;
      }
      become({ status: 'waiting', error: error instanceof Error ? error : new Error(String(error)) });
      await backoff.pause(signal);
    }
  }
  become({ status: 'ended' });
}
