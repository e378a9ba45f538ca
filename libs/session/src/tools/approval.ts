import type { EventData, EventOf, SessionEvent, SettledResult } from '@jetloop/contracts';
import { plus } from '../work/timers.js';
import type { ApprovalState, CallState, TurnState } from '../state.js';
import { errorResult } from './error-result.js';

/** Milliseconds for which a question waits, unless the policy says otherwise. */
export const APPROVAL_PATIENCE_MS = 24 * 3_600_000;

type Verdict = Omit<EventData<'approval.decided'>, 'approvalId'>;

/** Allowed by the policies, or by a person whom they asked. */
export function mayRun({ decided, approval, denial, reevaluating }: CallState): boolean {
  if (denial || reevaluating) return false;
  return decided?.decision === 'allow' || (decided?.decision === 'ask' && approval?.outcome === 'approved');
}

/** A question of the model to the person (`ask_user`), and not of a policy. */
export function isQuestion(approval: ApprovalState | undefined): boolean {
  return approval?.approvalId.endsWith('-question') === true;
}

/** Asks a person about a call. A call may be asked about more than once: each question has an id of its own. */
export function approvalRequested(
  turn: TurnState,
  step: number,
  call: CallState,
  question: Omit<EventData<'approval.requested'>, 'approvalId' | 'callId' | 'expiresAt'> & {
    readonly isQuestion?: boolean;
    /** RFC 3339. */
    readonly now: string;
    readonly expiresInMs?: number | undefined;
  },
): EventOf<'approval.requested'> {
  const { isQuestion: ofModel = false, now, expiresInMs = APPROVAL_PATIENCE_MS, ...data } = question;
  const again = ofModel ? '-question' : call.asked > 0 ? `-${call.asked + 1}` : '';
  const approvalId = `${turn.turn}-${step}-${call.n}${again}`;
  return {
    type: 'approval.requested',
    data: { approvalId, callId: call.callId, expiresAt: plus(now, expiresInMs), ...data },
  };
}

/** The one decision of an approval. */
export function approvalDecided(call: CallState, verdict: Verdict): SessionEvent[] {
  const approvalId = call.approval?.approvalId ?? '';
  return [{ type: 'approval.decided', data: { approvalId, ...verdict } }];
}

/** What a person did not allow, or not in time: the model is told the truth. */
export function notApproved({ approval }: CallState): SettledResult | undefined {
  if (!approval?.outcome || approval.outcome === 'approved') return undefined;
  const note = approval.note === undefined ? '' : `: ${approval.note}`;
  const text =
    approval.outcome === 'expired'
      ? `Nobody ${isQuestion(approval) ? 'answered' : 'approved this call'} in time.`
      : `This call was ${approval.outcome} by ${approval.by ?? 'nobody'}${note}${/[.!?]$/.test(note) ? '' : '.'}`;
  return errorResult({ name: 'NotApproved', code: approval.outcome, text });
}
