import type { LlmError } from '@jetloop/contracts';
import type { Candidate } from './candidate.js';
import type { RouteOptions } from './route-options.js';

/**
 * The error of a job that nobody answered: the last one in order. A name that the file does not know is no answer of a
 * target, so it hides no error; where every target rested, the error says when the first of them is back.
 */
export function reportedError(
  candidates: readonly Candidate[],
  { cooldowns, clock }: Pick<RouteOptions, 'cooldowns' | 'clock'>,
): { error: LlmError } {
  const last = candidates.findLast(({ error, refusal }) => error ?? (refusal && refusal.code !== 'no_targets'));
  const said = last?.error ?? last?.refusal;
  if (said) return { error: said };
  const now = clock();
  const rests = candidates
    .flatMap(({ name, isDone }) => (isDone ? [] : [{ name, rest: cooldowns.restOf(name, now) }]))
    .flatMap(({ name, rest }) => (rest ? [{ name, ...rest }] : []))
    .sort((a, b) => a.until - b.until);
  const [earliest] = rests;
  if (earliest) {
    const earliestAt = new Date(earliest.until).toISOString();
    const which = rests.map(({ name, code }) => `${name} (${code})`).join(', ');
    const message = `every target that could answer rests: ${which}; the first is back at ${earliestAt}`;
    return { error: { code: 'all_targets_cooling', message, retryable: false, target: earliest.name, earliestAt } };
  }
  const unknown = candidates.findLast(({ refusal }) => refusal)?.refusal;
  return {
    error: unknown ?? { code: 'no_targets', message: 'the chain of the agent is empty', retryable: false },
  };
}
