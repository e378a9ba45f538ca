import type { Attempt } from '@jetloop/contracts';
import type { Candidate } from './candidate.js';
import { costOf } from './cost.js';

/**
 * Delivery d > 1 counts as d-1 tries of unknown outcome at the first target that the job may call (spec 4.3): a command
 * that kills its process does not do so for ever. Counts them, and returns how they are reported: their usage is the
 * prompt's, a low estimate, because what the provider said is not known.
 * @param delivery how often the command was delivered, from 1
 * @param tokens low estimate of the prompt
 */
export function countLostTries(
  candidates: readonly Candidate[],
  commandId: string,
  delivery: number,
  tokens: number,
): Attempt[] {
  const candidate = candidates.find(({ isDone }) => !isDone);
  if (!candidate?.target) return [];
  const { name, target } = candidate;
  const usage = { input: Math.max(1, tokens), cacheRead: 0, cacheWrite: 0, output: 0, estimated: 'missing' as const };
  const lost = Array.from({ length: delivery - 1 }, (_, index): Attempt => {
    const message = 'the router that made this try was lost';
    return {
      attemptId: `${commandId}.${index + 1}.0`,
      target: name,
      why: index === 0 ? candidate.next : 'retry',
      outcome: 'unknown',
      error: { code: 'network', message, retryable: true, target: name },
      usage,
      cost: costOf(usage, target.prices),
      durationMs: 0,
    };
  });
  if (lost.length > 0) candidate.next = 'retry';
  candidate.tries += lost.length;
  candidate.error = lost.at(-1)?.error ?? candidate.error;
  candidate.isDone = candidate.tries > target.retryCount;
  return lost;
}
