import type { Attempt, LlmError } from '@jetloop/contracts';
import type { Adapter, ModelRequest } from '../adapter/adapter.js';
import type { Catalogue, Target } from '../catalogue/catalogue.js';
import { attemptOnce, type RouteListener, type Tried } from './attempt-once.js';
import { gate } from './gate.js';
import { progressOf } from './progress.js';
import type { JobFacts } from './job-facts.js';
import { isRetriedWithinTarget, retryDelay } from './retry-delay.js';

/** The longest wait that happens inside the worker; a longer one is handed back. */
const MAX_WAIT_MS = 5_000;

export interface RouteOptions {
  readonly catalogue: Catalogue;
  readonly adapters: Readonly<Record<Target['dialect'], Adapter>>;
  /** Names of targets in the order in which they are tried. */
  readonly order: readonly string[];
  /** The first of the chain: what an attempt at it is called. */
  readonly primary: string | undefined;
  readonly fallback: boolean;
  readonly facts: JobFacts;
  readonly request: Omit<ModelRequest, 'target'>;
  readonly commandId: string;
  /** How often the command was delivered, from 1. */
  readonly delivery: number;
  /** Attempts of this step that deferred replies reported. */
  readonly earlier: readonly Attempt[];
  readonly signal: AbortSignal;
  readonly listener: RouteListener;
  readonly now: () => number;
  readonly random: () => number;
  /** Resolves after the wait, or at once when the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

type Outcome =
  | { readonly kind: 'answer'; readonly tried: Extract<Tried, { ok: true }> }
  /** `tried`: the attempt that failed last; absent when there was none. */
  | { readonly kind: 'error'; readonly error: LlmError; readonly tried?: Tried }
  | { readonly kind: 'deferred'; readonly waitMs: number; readonly reason: LlmError['code'] };

/** What a job came to. `attempts` are those of this delivery, and the lost ones of deliveries before. */
export type Routed = Outcome & { readonly attempts: readonly Attempt[] };

/**
 * Tries the targets in order until one answers (spec 4.3): a gate before any I/O, retries within a target for what may
 * pass, a fallback on every error but an abort. The last error in order is the one that is reported.
 */
export async function route(options: RouteOptions): Promise<Routed> {
  const names = options.fallback ? options.order : options.order.slice(0, 1);
  const progress = progressOf({ ...options, order: names, firstWhy: whyOf(options, names[0] ?? '', 0) });
  const attempts: Attempt[] = [...progress.lost];
  const run = new Run(options, attempts);
  let last = progress.last;
  for (const [position, name] of names.entries()) {
    if (position < progress.from) continue;
    const why = whyOf(options, name, position);
    const target = options.catalogue.get(name);
    const refused = target && gate(target, options.facts);
    if (!target || refused) {
      run.skip(name, why, refused ?? unknownTarget(name));
      // A name that the file does not know is no answer of a target: it hides no error.
      last = refused ?? last ?? unknownTarget(name);
      continue;
    }
    const outcome = await run.target(
      target,
      why,
      position === progress.from ? progress : { tries: 0, last: undefined },
    );
    if (outcome.kind !== 'error') return { ...outcome, attempts };
    last = outcome.error;
    if (last.code === 'aborted') return { ...outcome, attempts };
  }
  return { kind: 'error', error: last ?? noTargets(), attempts };
}

/** The attempts of one delivery, numbered. */
class Run {
  private n = 0;

  constructor(
    private readonly options: RouteOptions,
    private readonly attempts: Attempt[],
  ) {}

  skip(target: string, why: Attempt['why'], error: LlmError): void {
    const attemptId = this.nextId();
    this.attempts.push({ attemptId, target, why, outcome: 'skipped', error, durationMs: 0 });
  }

  async target(
    target: Target,
    why: Attempt['why'],
    before: { readonly tries: number; readonly last: LlmError | undefined },
  ): Promise<Outcome> {
    const { options } = this;
    if (before.last && before.tries > target.retryCount) return { kind: 'error', error: before.last };
    if (before.tries === 0 && target.throttleDelay > 0) await options.wait(target.throttleDelay, options.signal);
    const deadline = options.now() + target.requestTimeout;
    let isRepaired = options.earlier.some((attempt) => attempt.target === target.name && attempt.why === 'repair');
    let next = before.tries === 0 ? why : 'retry';
    for (let tries = before.tries; ;) {
      if (options.signal.aborted) return { kind: 'error', error: abortedBeforeCall(target) };
      const tried = await this.attempt(target, next, deadline - options.now(), isRepaired);
      if (tried.ok) return { kind: 'answer', tried };
      const { error } = tried;
      if (tried.isRepairable === true && !isRepaired) {
        // Not a retry: another request, once a target, and it counts for nothing.
        isRepaired = true;
        next = 'repair';
        continue;
      }
      next = 'retry';
      tries++;
      const failed: Outcome = { kind: 'error', error, tried };
      if (tries > target.retryCount || !isRetriedWithinTarget(error)) return failed;
      const delay = retryDelay(error, target, tries, deadline - options.now(), options.random);
      if (delay === undefined) return failed;
      if (delay > MAX_WAIT_MS) return { kind: 'deferred', waitMs: delay, reason: error.code };
      await options.wait(delay, options.signal);
    }
  }

  private async attempt(
    target: Target,
    why: Attempt['why'],
    leftMs: number,
    withoutReasoningState: boolean,
  ): Promise<Tried> {
    const { adapters, request, facts, signal, listener, now } = this.options;
    const tried = await attemptOnce({
      adapter: adapters[target.dialect],
      // requestTimeout is for all tries on the target: this one gets what is left.
      request: {
        ...request,
        target: { ...target, requestTimeout: Math.max(1, leftMs) },
        ...(withoutReasoningState ? { withoutReasoningState } : {}),
      },
      facts,
      attemptId: this.nextId(),
      why,
      signal,
      listener,
      now,
    });
    this.attempts.push(tried.attempt);
    return tried;
  }

  private nextId(): string {
    return `${this.options.commandId}.${this.options.delivery}.${this.n++}`;
  }
}

function whyOf({ primary }: RouteOptions, name: string, position: number): Attempt['why'] {
  if (position > 0) return 'fallback';
  return name === primary ? 'primary' : 'sticky';
}

function abortedBeforeCall({ name }: Target): LlmError {
  return { code: 'aborted', message: 'the turn was cancelled before the call', retryable: false, target: name };
}

function unknownTarget(name: string): LlmError {
  return {
    code: 'no_targets',
    message: `there is no model target named ${name}: add it to models.yaml, or correct model.chain`,
    retryable: false,
    target: name,
  };
}

function noTargets(): LlmError {
  return { code: 'no_targets', message: 'the chain of the agent is empty', retryable: false };
}
