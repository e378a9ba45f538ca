import type { Attempt, LlmError } from '@jetloop/contracts';
import type { Adapter, ModelRequest } from '../adapter/adapter.js';
import type { Catalogue, Target } from '../catalogue/catalogue.js';
import type { RouteListener, Tried } from './attempt-once.js';
import type { Cooldowns } from './cooldowns.js';
import type { JobFacts } from './job-facts.js';
import type { FindMisfit } from './object-answer.js';
import type { CountedSlots } from './counted-slots.js';

export interface RouteOptions {
  readonly catalogue: Catalogue;
  readonly adapters: Readonly<Record<Target['dialect'], Adapter>>;
  readonly cooldowns: Cooldowns;
  readonly slots: Pick<CountedSlots, 'enter'>;
  /** Names of targets in the order in which they are tried. */
  readonly order: readonly string[];
  /** The first of the chain: what an attempt at it is called. */
  readonly primary: string | undefined;
  readonly fallback: boolean;
  readonly facts: JobFacts;
  readonly request: Omit<ModelRequest, 'target'>;
  /** Set where the request asks for an object. */
  readonly findMisfit?: FindMisfit | undefined;
  readonly commandId: string;
  /** Of the work, from 1: how often it was deferred, and one. */
  readonly attempt: number;
  /** How often the command was delivered, from 1. */
  readonly delivery: number;
  /** Attempts of this step that deferred replies reported. */
  readonly earlier: readonly Attempt[];
  /** When nobody waits for an answer any more, in milliseconds since the epoch. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly listener: RouteListener;
  /** Milliseconds of a clock that only goes forward, for durations. */
  readonly now: () => number;
  /** Milliseconds since the epoch, for rests that are shared. */
  readonly clock: () => number;
  readonly random: () => number;
  /** Resolves after the wait, or at once when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

export type Outcome =
  | { readonly kind: 'answer'; readonly tried: Extract<Tried, { ok: true }> }
  /** `tried`: the attempt that failed last; absent when there was none. */
  | { readonly kind: 'error'; readonly error: LlmError; readonly tried?: Tried }
  | { readonly kind: 'deferred'; readonly waitMs: number; readonly reason: string };

/** What a job came to. `attempts` are those of this delivery, and the lost ones of deliveries before. */
export type Routed = Outcome & { readonly attempts: readonly Attempt[] };
