import { candidatesOf, type Candidate } from './candidate.js';
import { reportedError } from './reported-error.js';
import { RouteRun } from './route-run.js';
import type { Outcome, Routed, RouteOptions } from './route-options.js';

/**
 * Tries the targets in order until one answers (spec 4.3): a gate before any I/O, retries within a target for what may
 * pass, a fallback on every error but an abort; what rests is passed over, and waited for when nothing else answers. The
 * last error in order is the one that is reported.
 */
export async function route(options: RouteOptions): Promise<Routed> {
  const order = options.fallback ? options.order : options.order.slice(0, 1);
  const candidates = candidatesOf({ ...options, order });
  const run = new RouteRun(options, candidates);
  const outcome = await outcomeOf(run, candidates, options);
  return { ...outcome, attempts: run.attempts };
}

async function outcomeOf(run: RouteRun, candidates: readonly Candidate[], options: RouteOptions): Promise<Outcome> {
  for (const candidate of candidates) {
    const outcome = await run.visit(candidate);
    if (outcome) return outcome;
  }
  for (;;) {
    const free = await run.afterRest();
    if (free === 'none') return { kind: 'error', ...reportedError(candidates, options) };
    const outcome = 'kind' in free ? free : await run.visit(free);
    if (outcome) return outcome;
  }
}
