import type { CallerCommand } from '@jetloop/contracts';
import { openCalls } from '../evolve/in-turn.js';
import { openHarness } from '../harness/apply-harness.js';
import { approvalDecided, isQuestion } from '../tools/approval.js';
import type { ApprovalState, SessionState } from '../state.js';
import type { DirectDecision } from './direct-decision.js';
import { accepted, refused } from './outcomes.js';

/** Exactly one outcome stands; deciding alike again is harmless, otherwise it came too late. */
export function decideApproval(
  state: SessionState,
  command: Extract<CallerCommand, { kind: 'approval.decide' }>,
  policyVersion: string,
): DirectDecision {
  const { approvalId, outcome, note, actor } = command;
  const known = state.approvals.get(approvalId);
  if (!known) return refused('not_found', `There is no approval ${approvalId} in this session.`);
  if (known.outcome === outcome) return accepted(known.sequence);
  if (known.outcome) return refused('stale', `The approval ${approvalId} was decided before: ${known.outcome}.`);
  if (!state.turn?.cancelling && openHarness(state)?.approvals.has(approvalId)) {
    const data = { approvalId, outcome, by: actor, ...(note === undefined ? {} : { note }) };
    const sequence = state.nextSequence;
    return { events: [{ type: 'approval.decided', data }], outcome: { status: 'accepted', sequence } };
  }
  const call = openCalls(state).find(({ approval }) => approval?.approvalId === approvalId);
  if (!state.turn || !call?.approval || state.turn.cancelling)
    return refused('stale', `The turn of approval ${approvalId} is over.`);
  const verdict = {
    outcome,
    by: actor,
    ...(note === undefined ? {} : { note }),
    ...(outcome === 'approved' && isOutdated(call.approval, policyVersion) ? { reevaluate: true } : {}),
  };
  return {
    events: approvalDecided(call, verdict),
    outcome: { status: 'accepted', sequence: state.nextSequence },
  };
}

/** The policies that asked are not those of now: they are asked again, and their new answer is what counts. */
function isOutdated(approval: ApprovalState, policyVersion: string): boolean {
  return !isQuestion(approval) && approval.policyVersion !== undefined && approval.policyVersion !== policyVersion;
}
