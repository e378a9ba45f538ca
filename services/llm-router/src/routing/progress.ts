import type { Attempt, LlmError } from '@jetloop/contracts';

/** Where a job stands before this delivery of its command makes its first call. */
export interface Progress {
  /** Position in the order at which it goes on. */
  readonly from: number;
  /** Failed tries at the target there. */
  readonly tries: number;
  /** The error that is reported if nothing more comes. */
  readonly last: LlmError | undefined;
  /** Tries of earlier deliveries, of which nothing is known: to be reported with this one's. */
  readonly lost: readonly Attempt[];
}

export interface ProgressInput {
  readonly order: readonly string[];
  readonly commandId: string;
  /** From 1. */
  readonly delivery: number;
  /** Attempts of this step that a deferred reply reported. */
  readonly earlier: readonly Attempt[];
  readonly firstWhy: Attempt['why'];
}

/**
 * A deferred job goes on where it was deferred, with its tries counted. Delivery d > 1 counts as d-1 tries of the target
 * at which it goes on, with unknown outcome: a command that kills its process does not do so for ever.
 */
export function progressOf({ order, commandId, delivery, earlier, firstWhy }: ProgressInput): Progress {
  const known = earlier.filter(({ outcome }) => outcome !== 'skipped');
  const latest = known.at(-1);
  const from = Math.max(0, latest ? order.indexOf(latest.target) : 0);
  const target = order[from];
  const before = known.filter((attempt) => attempt.target === target).length;
  const lost: Attempt[] = [];
  for (let d = 1; target !== undefined && d < delivery; d++) {
    lost.push({
      attemptId: `${commandId}.${d}.0`,
      target,
      why: d === 1 && before === 0 ? firstWhy : 'retry',
      outcome: 'unknown',
      error: { code: 'network', message: 'the router that made this try was lost', retryable: true, target },
      durationMs: 0,
    });
  }
  const last = lost.at(-1)?.error ?? latest?.error;
  return { from, tries: before + lost.length, last, lost };
}
