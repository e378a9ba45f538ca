import type { Attempt } from '@jetloop/contracts';
import type { EventLog, ServiceMetrics } from '@jetloop/platform';
import type { AttemptObserver, AttemptWhere } from './attempt-observer.js';

const OK = 'ok';

/**
 * One line and three metrics an attempt: target, outcome, code and times. Nothing of what was asked or answered is in
 * them, and not the provider's message either: that stands, cleaned, among the attempts of the session.
 */
export function attemptReports(log: EventLog, metrics: ServiceMetrics): AttemptObserver {
  const attempts = metrics.counter('jetloop_model_attempts_total', 'Tries at model targets, by what became of them.', [
    'target',
    'outcome',
    'code',
  ]);
  const durations = metrics.seconds('jetloop_model_attempt_duration_seconds', 'Seconds of a try that was made.', [
    'target',
  ]);
  const firstTokens = metrics.seconds('jetloop_model_first_token_seconds', 'Seconds to the first content.', ['target']);
  return (attempt, where) => {
    const { outcome, error, firstTokenMs, durationMs } = attempt;
    // Whoever writes an agent may name any target: only those of the file become series.
    const target = error?.code === 'no_targets' ? '(unknown)' : attempt.target;
    attempts.inc({ target, outcome, code: error?.code ?? OK });
    if (outcome !== 'skipped' && outcome !== 'unknown') durations.observe({ target }, durationMs / 1_000);
    if (firstTokenMs !== undefined) firstTokens.observe({ target }, firstTokenMs / 1_000);
    log.info(lineOf(attempt, where), 'model attempt');
  };
}

function lineOf(attempt: Attempt, where: AttemptWhere): Record<string, unknown> {
  const { attemptId, target, why, outcome, error, usage, firstTokenMs, durationMs } = attempt;
  return {
    ...where,
    attemptId,
    target,
    why,
    outcome,
    code: error?.code,
    status: error?.status,
    retryAfterMs: error?.retryAfterMs,
    firstTokenMs: rounded(firstTokenMs),
    durationMs: rounded(durationMs),
    tokens: usage,
  };
}

function rounded(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.round(milliseconds * 10) / 10;
}
