import type { SessionEvent } from '@jetloop/contracts';
import { approvalDecided } from '../tools/approval.js';
import { toolCall, toolResult } from '../tools/call-events.js';
import { errorResult } from '../tools/error-result.js';
import { cutAttempt } from '../harness/harness-end.js';
import type { SessionState, StepState, TurnState } from '../state.js';
import { endOf, turnEnd } from './end-of-turn.js';
import { heldBackContexts } from './held-back-contexts.js';

/**
 * Ends an open turn that was cancelled or failed: every open call gets its result, the step its end; a cancelled one
 * discards its prompts and steering.
 */
export function endCutTurn(state: SessionState, turn: TurnState): SessionEvent[] {
  const closes = turn.cancelling?.closes;
  return [
    ...(turn.cancelling ? discarded(state, turn) : []),
    ...(turn.compaction?.stage === 'running' ? [compactionCut(turn)] : []),
    ...(turn.phase.at === 'step' ? cutStep(turn, turn.phase.step) : []),
    turnEnd(turn, endOf(turn)),
    ...(closes === undefined ? [] : [{ type: 'session.closed' as const, data: { reason: closes } }]),
  ];
}

function discarded(state: SessionState, turn: TurnState): SessionEvent[] {
  const reason = turn.cancelling?.closes === undefined ? ('cancelled' as const) : ('closed' as const);
  const pending = new Set(turn.phase.at === 'prompts' ? turn.phase.pending : []);
  return state.queue
    .filter(({ messageId, lane }) => lane === 'step' || pending.has(messageId))
    .map(({ messageId }) => ({ type: 'message.discarded', data: { messageId, reason } }));
}

function compactionCut(turn: TurnState): SessionEvent {
  const error = { code: 'aborted', message: 'The turn ended before the conversation was compacted.' };
  return { type: 'compaction.end', data: { turn: turn.turn, error } };
}

function cutStep(turn: TurnState, { step, harness, answer }: StepState): SessionEvent[] {
  if (harness) return [...cutAttempt(turn, step, harness), { type: 'step.end', data: { turn: turn.turn, step } }];
  const result = errorResult(
    turn.cancelling
      ? { name: 'Cancelled', code: 'cancelled', text: `This call was cancelled (${turn.cancelling.reason}).` }
      : { name: 'NotRun', code: 'not_run', text: 'This call was not run: the turn failed.' },
  );
  const events: SessionEvent[] = [];
  for (const call of answer?.calls ?? []) {
    if (call.settled) continue;
    if (!call.decided) events.push(toolCall(turn, step, call, 'allow'));
    if (call.approval && !call.approval.outcome)
      events.push(...approvalDecided(call, { outcome: 'cancelled', by: 'loop-orchestrator' }));
    events.push(toolResult(turn, step, call, result));
  }
  return [...events, ...heldBackContexts(turn), { type: 'step.end', data: { turn: turn.turn, step } }];
}
