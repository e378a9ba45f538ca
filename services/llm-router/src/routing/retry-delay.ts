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

/**
 * Milliseconds to wait before the next try at the same target: a random share of a doubling backoff, on top of what the
 * provider asked for. undefined: the target is left at once, because the wait would be too long.
 * @param tries failed tries at this target so far, from 1
 * @param leftMs rest of the target's requestTimeout
 */
export function retryDelay(
  error: LlmError,
  target: Target,
  tries: number,
  leftMs: number,
  random: () => number,
): number | undefined {
  const asked = error.retryAfterMs ?? 0;
  if (asked > target.maxRetryAfter || asked >= leftMs) return undefined;
  return Math.min(leftMs, asked + random() * target.jitterBackoff * 2 ** (tries - 1));
}
