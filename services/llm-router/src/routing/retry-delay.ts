import type { LlmError, LlmErrorCode } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';

const RETRIED: ReadonlySet<LlmError['code']> = new Set<LlmErrorCode>([
  'rate_limited',
  'overloaded',
  'network',
  'incomplete_stream',
]);

/** Errors that the same target may answer differently in a moment: 429, 503, 529, and what broke on the way. */
export function isRetriedWithinTarget({ code }: LlmError): boolean {
  return RETRIED.has(code);
}

export interface RetryDelay {
  /** Milliseconds that the provider asked for; 0: it did not. */
  readonly asked: number;
  /** A random share of a doubling backoff, on top. */
  readonly jitter: number;
}

/**
 * The wait before the next try at the same target. undefined: the target is left at once, because the wait would be
 * longer than its maxRetryAfter or than what is left.
 * @param tries failed tries at this target so far, from 1
 * @param leftMs rest of the target's requestTimeout and of the command
 */
export function retryDelay(
  error: LlmError,
  target: Target,
  tries: number,
  leftMs: number,
  random: () => number,
): RetryDelay | undefined {
  const asked = error.retryAfterMs ?? 0;
  if (asked > target.maxRetryAfter || asked >= leftMs) return undefined;
  const jitter = Math.min(leftMs - asked, random() * target.jitterBackoff * 2 ** (tries - 1));
  return { asked, jitter };
}
