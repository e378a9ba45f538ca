import type { Attempt, LlmError } from '@jetloop/contracts';
import type { Catalogue, Target } from '../catalogue/catalogue.js';
import { gate } from './gate.js';
import type { JobFacts } from './job-facts.js';
import { isRetriedWithinTarget } from './retry-delay.js';

/** A target of the order, and how far the job is with it. */
export interface Candidate {
  readonly name: string;
  /** undefined: `refusal` says why it is never called. */
  readonly target: Target | undefined;
  readonly refusal: LlmError | undefined;
  /** What the next attempt at it is called. */
  next: Attempt['why'];
  /** Failed tries so far, those of earlier attempts and deliveries included. */
  tries: number;
  /** Of its last failed try. */
  error: LlmError | undefined;
  /** It is not called any more. */
  isDone: boolean;
  /** When the rest of its requestTimeout is over, on the clock of durations; undefined: it was not called yet. */
  deadline: number | undefined;
  /** The one call without reasoning state was made; so are those that follow. */
  isRepaired: boolean;
  /** Whether an earlier attempt of the step reported it. */
  wasReported: boolean;
}

export interface CandidatesInput {
  /** Names of targets in the order in which they are tried. */
  readonly order: readonly string[];
  /** The first of the chain: what an attempt at it is called. */
  readonly primary: string | undefined;
  readonly catalogue: Catalogue;
  readonly facts: JobFacts;
  /** Attempts of this step that deferred replies reported: they count. */
  readonly earlier: readonly Attempt[];
}

/** The order with what is known before this delivery's first call: gates, and the tries that a deferred job had made. */
export function candidatesOf({ order, primary, catalogue, facts, earlier }: CandidatesInput): Candidate[] {
  return order.map((name, position): Candidate => {
    const target = catalogue.get(name);
    const refusal = target ? gate(target, facts) : unknownTarget(name);
    const reported = earlier.filter((attempt) => attempt.target === name);
    const tried = reported.filter(({ outcome }) => outcome !== 'skipped');
    const error = tried.at(-1)?.error;
    const isRepaired = tried.some(({ why }) => why === 'repair');
    // What was repaired was no try.
    const tries = tried.length - (isRepaired ? 1 : 0);
    const isSpent = target !== undefined && tries > target.retryCount;
    return {
      name,
      target: refusal ? undefined : target,
      refusal,
      next: tried.length > 0 ? 'retry' : position > 0 ? 'fallback' : name === primary ? 'primary' : 'sticky',
      tries,
      error,
      isDone: refusal !== undefined || (error !== undefined && (isSpent || !isRetriedWithinTarget(error))),
      deadline: undefined,
      isRepaired,
      wasReported: reported.length > 0,
    };
  });
}

function unknownTarget(name: string): LlmError {
  return {
    code: 'no_targets',
    message: `there is no model target named ${name}: add it to models.yaml, or correct model.chain`,
    retryable: false,
    target: name,
  };
}
