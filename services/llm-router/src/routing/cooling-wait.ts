import type { Target } from '../catalogue/catalogue.js';
import type { Rest } from './cooldowns.js';

/** The longest wait, in milliseconds, that happens inside the worker; a longer one is handed back. */
export const MAX_WAIT_MS = 5_000;

/** A target that rests, and that the job may still call. */
export interface Resting {
  readonly target: Target;
  readonly rest: Rest;
  /** Milliseconds until nobody waits for this target any more: the rest of its requestTimeout, or of the command. */
  readonly patienceMs: number;
}

/** How long this job has waited for targets since its last call, in milliseconds. */
export interface Waited {
  readonly forRests: number;
  readonly forProbes: number;
}

export type CoolingWait =
  /** Here, until a rest changes or this time is over. */
  | { readonly kind: 'here'; readonly milliseconds: number; readonly target: Target; readonly isProbed: boolean }
  | { readonly kind: 'deferred'; readonly milliseconds: number; readonly target: Target; readonly reason: string }
  /** Nothing to wait for. */
  | { readonly kind: 'none' };

/**
 * What to do when every target that is left rests: wait for the earliest within the command's deadline and the target's
 * maxRetryAfter, a refused key never (spec 4.3). A probe may end at any moment, so it is waited for here; one that does
 * not end in the time of a wait is handed back as well.
 */
export function coolingWait(resting: readonly Resting[], waited: Waited, now: number): CoolingWait {
  const [earliest] = resting
    .filter(({ target, rest, patienceMs }) => {
      const left = rest.until - now;
      return rest.code !== 'auth' && left <= target.maxRetryAfter && left < patienceMs;
    })
    .sort((a, b) => a.rest.until - b.rest.until);
  if (!earliest) return { kind: 'none' };
  const { target, rest } = earliest;
  const left = Math.max(0, rest.until - now);
  const room = MAX_WAIT_MS - (rest.isProbed ? waited.forProbes : waited.forRests);
  if (rest.isProbed ? room > 0 : left <= room) {
    return { kind: 'here', milliseconds: Math.min(left, room), target, isProbed: rest.isProbed };
  }
  return { kind: 'deferred', milliseconds: left, target, reason: rest.code };
}
