import { isKnownEvent, textOf, type EventData } from '@jetloop/contracts';
import type { WrittenRow } from '@jetloop/persistence';
import type { Fold } from './fold.js';
import type { ProjectedEvent } from './projected-event.js';

/** One row a tool call; a result without its call makes none. */
export const toolCallsFold: Fold<'tool_calls'> = {
  table: 'tool_calls',
  key: ['tenant', 'session_id', 'turn', 'step', 'n'],
  keyOf: ({ tenant, session, event }) => {
    if (!isKnownEvent(event) || (event.type !== 'tool.call' && event.type !== 'tool.result')) return undefined;
    const { turn, step, n } = event.data;
    return { tenant, session_id: session, turn, step, n };
  },
  apply: (row, projected) => {
    const { event } = projected;
    if (!isKnownEvent(event)) return row;
    if (event.type === 'tool.call') return calledRow(projected, event.data);
    if (event.type !== 'tool.result' || row === undefined) return row;
    const { durationMs, isError, error, content } = event.data;
    return {
      ...row,
      ended_at: projected.time,
      duration_ms: durationMs,
      is_error: isError,
      error_name: error?.name ?? null,
      error_code: error?.code ?? null,
      result_text: textOf(content),
    };
  },
};

function calledRow(projected: ProjectedEvent, call: EventData<'tool.call'>): WrittenRow<'tool_calls'> {
  const { tenant, session, event, time } = projected;
  const decided = decisionAbout(projected, call.callId);
  return {
    tenant,
    session_id: session,
    turn: call.turn,
    step: call.step,
    n: call.n,
    seq: event.sequence,
    call_id: call.callId,
    name: call.name,
    arguments: call.arguments,
    effective: call.effective,
    decision: call.decision,
    policy: decided?.policy ?? null,
    reason: decided?.reason ?? null,
    started_at: time,
    ended_at: null,
    duration_ms: null,
    is_error: null,
    error_name: null,
    error_code: null,
    result_text: null,
    effect_id: [tenant, session, call.turn, call.step, call.n].join('.'),
  };
}

/** A call and the decision about it are one commit. A call id alone would not do: models use them again. */
function decisionAbout(projected: ProjectedEvent, callId: string): EventData<'policy.decided'> | undefined {
  for (const event of projected.decision) {
    if (!isKnownEvent(event) || event.type !== 'policy.decided') continue;
    if (event.data.seam === 'pre-tool' && event.data.callId === callId) return event.data;
  }
  return undefined;
}
