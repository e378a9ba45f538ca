import { isKnownEvent } from '@jetloop/contracts';
import type { WrittenRow } from '@jetloop/persistence';
import type { ProjectedEvent } from './projected-event.js';
import { turnNumber } from './turn-number.js';

/** The decision that an event records, if any. */
export function policyDecisionRow(projected: ProjectedEvent): WrittenRow<'policy_decisions'> | undefined {
  const { event } = projected;
  if (!isKnownEvent(event) || event.type !== 'policy.decided') return undefined;
  const { seam, policy, decision, reason, callId, messageId } = event.data;
  return {
    tenant: projected.tenant,
    session_id: projected.session,
    seq: event.sequence,
    turn: turnNumber(event.correlationId),
    time: projected.time,
    seam,
    policy,
    decision,
    reason: reason ?? null,
    call_id: callId ?? null,
    message_id: messageId ?? null,
  };
}
