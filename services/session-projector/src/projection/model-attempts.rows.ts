import { isKnownEvent, type AnsweringModel, type Attempt } from '@jetloop/contracts';
import type { WrittenRow } from '@jetloop/persistence';
import type { ProjectedEvent } from './projected-event.js';
import { turnNumber } from './turn-number.js';

type Row = WrittenRow<'model_attempts'>;

/** The attempts that an event reports. */
export function modelAttemptRows(projected: ProjectedEvent): Row[] {
  const { event } = projected;
  if (!isKnownEvent(event)) return [];
  if (event.type === 'assistant.message') {
    const { turn, step, model, attempts } = event.data;
    return attempts.map((attempt) => row(projected, attempt, { turn, step, model }));
  }
  if (event.type === 'turn.error') {
    const { turn, step, attempts = [] } = event.data;
    return attempts.map((attempt) => row(projected, attempt, { turn, step, model: null }));
  }
  if (event.type !== 'work.deferred') return [];
  const place = { turn: turnNumber(event.correlationId), step: null, model: null };
  return event.data.attempts.map((attempt) => row(projected, attempt, place));
}

interface Place {
  readonly turn: number | null;
  readonly step: number | null;
  readonly model: AnsweringModel | null;
}

function row(projected: ProjectedEvent, attempt: Attempt, { turn, step, model }: Place): Row {
  const { usage, error } = attempt;
  const isAnswer = attempt.outcome === 'ok' && model?.target === attempt.target;
  const tokens = (count: number | undefined): number | null => (count === undefined ? null : Math.round(count));
  return {
    tenant: projected.tenant,
    session_id: projected.session,
    attempt_id: attempt.attemptId,
    seq: projected.event.sequence,
    turn,
    step,
    time: projected.time,
    target: attempt.target,
    model: isAnswer ? (model.served ?? model.model) : null,
    why: attempt.why,
    outcome: attempt.outcome,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    input_tokens: tokens(usage?.input),
    cache_read_tokens: tokens(usage?.cacheRead),
    cache_write_tokens: tokens(usage?.cacheWrite),
    output_tokens: tokens(usage?.output),
    cost: attempt.cost ?? null,
    first_token_ms: attempt.firstTokenMs ?? null,
    duration_ms: attempt.durationMs,
  };
}
