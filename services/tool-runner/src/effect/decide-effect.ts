import type { StoredEffect } from '@jetloop/messaging';

/** A call older than this that has no entry is not run: its entry may have been there and gone (they live an hour). */
export const MAX_AGE_MS = 50 * 60_000;

/** When a runner first met a revision of a running effect, on its own clock (milliseconds). */
export interface Sighting {
  readonly revision: number;
  readonly at: number;
}

export type EffectVerdict =
  | { readonly kind: 'start' }
  /** It ran already: `stored` says how it ended, `unknown` that nobody knows. */
  | { readonly kind: 'stored' | 'unknown' }
  /** Another runner is at it, or was until a moment ago. */
  | { readonly kind: 'wait'; readonly milliseconds: number; readonly sighting: Sighting }
  /** Its runner did not write for a whole ack wait: it is dead. */
  | { readonly kind: 'give-up' };

export interface EffectFacts {
  readonly stored: StoredEffect | undefined;
  /** What this runner remembers of it. */
  readonly sighting: Sighting | undefined;
  /** Milliseconds since the call became outstanding. */
  readonly age: number;
  /** Milliseconds on this runner's own clock. */
  readonly now: number;
  readonly ackWaitMs: number;
}

/**
 * What is to be done with a call that must not run twice (spec 8.2). A living runner rewrites its entry three times an ack wait:
 * who meets the same revision an ack wait later knows that it is dead. No two clocks are compared.
 */
export function decideEffect({ stored, sighting, age, now, ackWaitMs }: EffectFacts): EffectVerdict {
  if (!stored) return age > MAX_AGE_MS ? { kind: 'unknown' } : { kind: 'start' };
  const { entry, revision } = stored;
  if (entry.status === 'done') return { kind: 'stored' };
  if (entry.status === 'unknown') return { kind: 'unknown' };
  if (sighting?.revision !== revision)
    return { kind: 'wait', milliseconds: ackWaitMs, sighting: { revision, at: now } };
  const left = sighting.at + ackWaitMs - now;
  return left > 0 ? { kind: 'wait', milliseconds: left, sighting } : { kind: 'give-up' };
}
