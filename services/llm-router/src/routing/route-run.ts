import type { Attempt, LlmError } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';
import { attemptOnce, type Tried } from './attempt-once.js';
import type { Candidate } from './candidate.js';
import { coolingWait, MAX_WAIT_MS, type Resting } from './cooling-wait.js';
import type { Admission, Rest } from './cooldowns.js';
import { limitDelay } from './limit-delay.js';
import { countLostTries } from './lost-tries.js';
import { isRetriedWithinTarget, retryDelay } from './retry-delay.js';
import type { Outcome, RouteOptions } from './route-options.js';

/** The calls of one delivery of a job, numbered, and its waits. */
export class RouteRun {
  readonly attempts: Attempt[];
  private n = 0;
  private waited = { forRests: 0, forProbes: 0 };

  constructor(
    private readonly options: RouteOptions,
    private readonly candidates: readonly Candidate[],
  ) {
    const { commandId, delivery, facts } = options;
    this.attempts = countLostTries(candidates, commandId, delivery, facts.tokens);
  }

  /** Calls a target, again while that may help. undefined: it did not answer, or it rests; the next one in order follows. */
  async visit(candidate: Candidate): Promise<Outcome | undefined> {
    const { target, refusal } = candidate;
    if (refusal) this.skip(candidate, refusal);
    if (candidate.isDone || !target) return undefined;
    if (this.isPassedOver(candidate, target)) return undefined;
    const { wait, signal, now } = this.options;
    if (candidate.tries === 0 && target.throttleDelay > 0) await wait(target.throttleDelay, signal);
    candidate.deadline ??= now() + target.requestTimeout;
    for (;;) {
      if (signal.aborted) return { kind: 'error', error: abortedBeforeCall(target) };
      const outcome = await this.call(candidate, target);
      if (outcome === 'again') continue;
      if (outcome !== 'failed') return outcome === 'left' ? undefined : outcome;
      const pause = this.pause(candidate, target);
      if (typeof pause !== 'number') return pause;
      await wait(pause, signal);
    }
  }

  /** The first target in order that may be called now, waited for if need be; `none`: nothing is worth waiting for. */
  async afterRest(): Promise<Candidate | Outcome | 'none'> {
    const { signal, clock, random, wait } = this.options;
    for (;;) {
      const open = this.candidates.filter(({ isDone }) => !isDone);
      if (signal.aborted) return { kind: 'error', error: abortedBeforeCall(open[0]?.target) };
      const now = clock();
      const resting = open.flatMap((candidate) => this.resting(candidate, now));
      const free = open.find(({ name }) => !resting.some(({ target }) => target.name === name));
      if (free) return free;
      const next = coolingWait(resting, this.waited, now);
      if (next.kind === 'none') return 'none';
      const jitter = random() * next.target.jitterBackoff;
      if (next.kind === 'deferred') {
        return { kind: 'deferred', waitMs: next.milliseconds + jitter, reason: next.reason };
      }
      await this.waitForChange(next.milliseconds, next.isProbed ? 'forProbes' : 'forRests');
      // Everybody who waits for this target is back now: they spread out.
      if (!this.restOf(next.target)) await wait(jitter, signal);
    }
  }

  private resting({ name, target, deadline }: Candidate, now: number): Resting[] {
    const rest = target && this.options.cooldowns.restOf(name, now);
    if (!rest) return [];
    const own = deadline === undefined ? target.requestTimeout : deadline - this.options.now();
    return [{ target, rest, patienceMs: Math.min(own, this.options.deadline - now) }];
  }

  /** `left`: the target is not called now; `failed`: it was, and may be tried again; `again`: repaired, at once. */
  private async call(candidate: Candidate, target: Target): Promise<Outcome | 'left' | 'failed' | 'again'> {
    const { slots, cooldowns, clock, attempt, random } = this.options;
    if (this.leftMs(candidate) <= 0) return this.outOfTime(candidate, target);
    const leave = slots.enter(target.name, target.maxConcurrent);
    if (!leave) return { kind: 'deferred', waitMs: limitDelay(attempt, random), reason: 'target_limit' };
    try {
      const admission = await cooldowns.admit(target.name, clock());
      if (admission) return await this.admitted(candidate, target, admission);
      this.isPassedOver(candidate, target);
      return 'left';
    } finally {
      leave();
    }
  }

  private async admitted(
    candidate: Candidate,
    target: Target,
    admission: Admission,
  ): Promise<Outcome | 'left' | 'failed' | 'again'> {
    const tried = await this.attempt(candidate, target, admission);
    this.waited = { forRests: 0, forProbes: 0 };
    if (tried.ok) return { kind: 'answer', tried };
    const { error } = tried;
    if (error.code === 'aborted') return { kind: 'error', error, tried };
    candidate.error = error;
    if (tried.isRepairable === true && !candidate.isRepaired) {
      // Not a retry: another request, once a target, and it counts for nothing.
      candidate.isRepaired = true;
      candidate.next = 'repair';
      return 'again';
    }
    candidate.next = 'retry';
    candidate.tries++;
    candidate.isDone = candidate.tries > target.retryCount || !isRetriedWithinTarget(error);
    await this.options.cooldowns.failed(target, error, this.options.clock());
    // What the model said is not what was asked for: another would not know better.
    if (error.code === 'object_decode') return { kind: 'error', error, tried };
    return candidate.isDone ? 'left' : 'failed';
  }

  /** Milliseconds until the next try at a target that failed; undefined: it is left now. */
  private pause(candidate: Candidate, target: Target): number | Outcome | undefined {
    const { random, clock } = this.options;
    const { error, tries } = candidate;
    const delay = error && retryDelay(error, target, tries, this.leftMs(candidate), random);
    if (!delay) {
      candidate.isDone = true;
      return undefined;
    }
    const waitMs = delay.asked + delay.jitter;
    const rest = this.restOf(target);
    // The retry would come while the target rests: it is passed over like any other call.
    if (rest && rest.until > clock() + waitMs) return undefined;
    return waitMs > MAX_WAIT_MS ? { kind: 'deferred', waitMs, reason: error.code } : waitMs;
  }

  private async attempt(candidate: Candidate, target: Target, admission: Admission): Promise<Tried> {
    const { adapters, request, facts, findMisfit, signal, listener, now } = this.options;
    const tried = await attemptOnce({
      adapter: adapters[target.dialect],
      // requestTimeout is for all tries on the target: this one gets what is left.
      request: {
        ...request,
        target: { ...target, requestTimeout: Math.max(1, this.leftMs(candidate)) },
        ...(candidate.isRepaired ? { withoutReasoningState: true } : {}),
      },
      facts,
      findMisfit,
      attemptId: this.nextId(),
      why: candidate.next,
      signal,
      listener,
      now,
      answered: () => {
        admission.answered();
      },
    });
    this.attempts.push(tried.attempt);
    return tried;
  }

  private isPassedOver(candidate: Candidate, target: Target): boolean {
    const rest = this.restOf(target);
    if (rest && candidate.tries === 0) {
      const until = new Date(rest.until).toISOString();
      const message = `target ${target.name} rests until ${until} (${rest.code})`;
      this.skip(candidate, { code: 'all_targets_cooling', message, retryable: false, target: target.name });
    }
    return rest !== undefined;
  }

  private skip(candidate: Candidate, error: LlmError): void {
    if (candidate.wasReported) return;
    candidate.wasReported = true;
    const { name: target, next: why } = candidate;
    this.attempts.push({ attemptId: this.nextId(), target, why, outcome: 'skipped', error, durationMs: 0 });
  }

  private outOfTime(candidate: Candidate, target: Target): 'left' {
    candidate.isDone = true;
    const message = 'no time is left for a call';
    candidate.error ??= { code: 'timeout', message, retryable: false, phase: 'request', target: target.name };
    return 'left';
  }

  private async waitForChange(milliseconds: number, what: 'forRests' | 'forProbes'): Promise<void> {
    const { cooldowns, wait, signal, now } = this.options;
    const changed = new AbortController();
    const stop = cooldowns.onChange(() => {
      changed.abort();
    });
    const started = now();
    await wait(milliseconds, AbortSignal.any([signal, changed.signal]));
    stop();
    this.waited = { ...this.waited, [what]: this.waited[what] + now() - started };
  }

  private restOf({ name }: Target): Rest | undefined {
    return this.options.cooldowns.restOf(name, this.options.clock());
  }

  private leftMs({ deadline }: Candidate): number {
    const { now, clock } = this.options;
    return Math.min((deadline ?? Infinity) - now(), this.options.deadline - clock());
  }

  private nextId(): string {
    return `${this.options.commandId}.${this.options.delivery}.${this.n++}`;
  }
}

function abortedBeforeCall(target: Target | undefined): LlmError {
  return {
    code: 'aborted',
    message: 'the turn was cancelled before the call',
    retryable: false,
    ...(target ? { target: target.name } : {}),
  };
}
