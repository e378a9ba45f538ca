import type { LlmError } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';

/** Milliseconds that a target rests whose key is refused. */
const REFUSED_MS = 60_000;

/**
 * Milliseconds for which an error lets its target rest, for all replicas; undefined: it does not (spec 4.3). Each 429
 * does, 503 and 529 where the provider says how long, 401 and 403 for a minute.
 */
export function restAfter({ code, status, retryAfterMs }: LlmError, { cooldown }: Target): number | undefined {
  if (status === 429 || code === 'rate_limited') return retryAfterMs ?? cooldown;
  if (code === 'overloaded') return retryAfterMs;
  // A key that is missing here is in no answer of the provider: another replica may have it.
  return status === 401 || status === 403 ? REFUSED_MS : undefined;
}
