import type { HarnessEvent, HarnessEvents, HarnessFinished, SessionEvent } from '@jetloop/contracts';
import { digestOf } from '../digest.js';
import type { DecisionContext } from '../next/decision-context.js';
import { endCutTurn } from '../next/cut-turn.js';
import type { SessionState, TurnState } from '../state.js';
import { plus } from '../work/timers.js';
import type { DirectDecision } from '../decide/direct-decision.js';
import { openHarness } from './apply-harness.js';
import { attemptEnded } from './harness-end.js';
import { harnessApprovalId, PERMISSION_ASK } from './harness-log.js';
import { fieldOf } from './harness-state.js';
import { harnessWork } from './harness-work.js';

/**
 * What a batch of an attempt, or its end, makes of the session (spec 6.5). What is in the log already is passed over, what
 * is not its turn yet waits, and what belongs to another attempt is ignored.
 */
export function harnessReply(
  state: SessionState,
  reply: HarnessEvents | HarnessFinished,
  context: DecisionContext,
): DirectDecision {
  const { turn } = state;
  const harness = openHarness(state);
  if (turn?.phase.at !== 'step' || !harness) return { kind: 'late' };
  const { command } = harnessWork(state, turn, turn.phase.step);
  if (reply.commandId !== command.commandId)
    return reply.turn === turn.turn && reply.attempt < command.attempt ? { kind: 'due' } : { kind: 'late' };
  if (reply.from !== null && reply.from > harness.next) return { kind: 'gap', next: harness.next };
  if (reply.kind === 'harness.finished') {
    // A cancelled turn ends aborted, whatever the agent made of it.
    if (turn.cancelling) return { events: endCutTurn(state, turn) };
    return { events: attemptEnded(state, turn, harness, reply, context.now) };
  }
  const fresh = reply.events.slice(harness.next - reply.from);
  if (fresh.length === 0) return { kind: 'due' };
  const events = fresh.flatMap((event, n) => recorded(state, turn, event, harness.next + n, command.attempt, context));
  return { events };
}

/** An event as it came; behind what asks for permission, the question to a person. */
function recorded(
  state: SessionState,
  turn: TurnState,
  event: HarnessEvent,
  sequence: number,
  attempt: number,
  { now }: DecisionContext,
): SessionEvent[] {
  const { harness } = state.agent;
  const isAsk = event.type === 'harness.raw' && event.data.source === PERMISSION_ASK;
  if (!isAsk || harness?.permissionPolicy !== 'ask' || turn.cancelling) return [event];
  const call = fieldOf(event.data.value, 'toolCall');
  const title = fieldOf(call, 'title');
  const callId = fieldOf(call, 'toolCallId');
  const requested: SessionEvent = {
    type: 'approval.requested',
    data: {
      approvalId: harnessApprovalId(turn.turn, turn.steps, attempt, sequence),
      callId: typeof callId === 'string' ? callId : '',
      argumentsHash: digestOf(fieldOf(call, 'rawInput') ?? null),
      expiresAt: plus(now, harness.approvalMs),
      question: `May the agent go on with this? ${typeof title === 'string' ? title : 'It does not say what.'}`,
    },
  };
  return [event, requested];
}
