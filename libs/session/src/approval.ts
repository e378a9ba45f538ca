import type { EventData, SessionEvent } from '@jetloop/contracts';
import { settledWithError } from './call-events.js';
import { workStep } from './evolve.js';
import type { CallState, TurnState } from './state.js';

/** Milliseconds for which a question waits, unless the policy says otherwise. */
export const APPROVAL_PATIENCE_MS = 24 * 3_600_000;

type Verdict = Omit<EventData<'approval.decided'>, 'approvalId'>;

/** The one decision of an approval. Anything but an approval settles the call, and the model is told the truth. */
export function approvalDecided(turn: TurnState, call: CallState, verdict: Verdict): SessionEvent[] {
  const approvalId = call.approval?.approvalId ?? '';
  const decided: SessionEvent = { type: 'approval.decided', data: { approvalId, ...verdict } };
  if (verdict.outcome === 'approved') return [decided];
  const note = verdict.note === undefined ? '' : `: ${verdict.note}`;
  const text =
    verdict.outcome === 'expired'
      ? 'Nobody approved this call in time.'
      : `This call was ${verdict.outcome} by ${verdict.by}${note}.`;
  const error = { name: 'NotApproved', code: verdict.outcome, text };
  return [decided, settledWithError(turn, workStep(turn), call, error)];
}
