import type { LlmError } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';

/** Errors that the same target may answer differently in a moment. */
export function isRetriedWithinTarget({ code, status }: LlmError): boolean {
  return code === 'rate_limited' || code === 'overloaded' || (code === 'network' && status === undefined);
}

/**
 * Milliseconds to wait before the next try at the same target: a random share of a doubling backoff, on top of what the
 * provider asked for. undefined: the target is left at once, because the wait would be too long.
 */
export function retryDelay(
  error: LlmError,
  target: Target,
  tries: number,
  leftMs: number,
  random: () => number,
): number | undefined {
  const asked = error.retryAfterMs ?? 0;
  if (asked > target.maxRetryAfter || asked > leftMs) return undefined;
  return asked + random() * target.jitterBackoff * 2 ** tries;
}
