import type { ChildReply, HookReply, LlmReply, Reply, SessionEvent, ToolReply } from '@jetloop/contracts';
import { childResult } from '../children/child-report.js';
import { openCallOf } from '../children/child.js';
import { harnessReply } from '../harness/harness-reply.js';
import { hookAnswered } from '../answers/hook-answered.js';
import { postToolAnswered } from '../answers/post-tool-answered.js';
import { answerMarks } from '../answers/policy-marks.js';
import { startAnswered } from '../answers/start-answered.js';
import { workStep } from '../evolve/in-turn.js';
import type { DecisionContext } from '../next/decision-context.js';
import { endCutTurn } from '../next/cut-turn.js';
import { toolResult } from '../tools/call-events.js';
import { errorResult } from '../tools/error-result.js';
import { awaitedWork, delaysCancel } from '../work/awaited-work.js';
import type { AwaitedWork } from '../work/work.js';
import { hookWork } from '../work/hook-work.js';
import type { SessionState, TurnState } from '../state.js';
import { callOf } from './call-of.js';
import type { DirectDecision } from './direct-decision.js';
import { modelAnswered } from './model-answered.js';
import { awaitedResult, settleCall } from './settle-call.js';
import { toolAnswered } from './tool-answered.js';

/** What a reply makes of the session. One that is not awaited is late and never reaches the model. */
export function decideReply(state: SessionState, reply: Reply, context: DecisionContext): DirectDecision {
  if (reply.kind === 'child') return childAnswered(state, reply, context);
  if (reply.kind === 'harness.events' || reply.kind === 'harness.finished') return harnessReply(state, reply, context);
  const work = awaitedWork(state).find((awaited) => awaited.command.commandId === reply.commandId);
  const { turn } = state;
  if (!work) return reply.kind === 'hook' && turn ? resultAnswered(state, turn, reply) : { kind: 'late' };
  if (work.kind !== reply.kind) return { kind: 'late' };
  if (work.kind === 'hook' && work.command.subject.seam === 'session-start') {
    if (reply.kind !== 'hook') return { kind: 'late' };
    return {
      events:
        reply.result.status === 'deferred' ? [deferred(work, reply.result.deferred)] : startAnswered(state, reply),
    };
  }
  if (!turn || (turn.cancelling && !delaysCancel(work))) return { kind: 'late' };
  if (reply.result.status === 'deferred')
    return { events: turn.cancelling ? givenUp(state, turn, work) : [deferred(work, reply.result.deferred)] };
  return answered(state, turn, work, reply, context);
}

function answered(
  state: SessionState,
  turn: TurnState,
  work: AwaitedWork,
  reply: LlmReply | ToolReply | HookReply,
  context: DecisionContext,
): DirectDecision {
  switch (reply.kind) {
    case 'llm':
      return { events: modelAnswered(state, turn, work, reply, context) };
    case 'tool':
      return toolAnswered(state, turn, work, reply, context);
    case 'hook':
      return work.kind === 'hook'
        ? { events: hookAnswered(state, turn, work.command, reply, context) }
        : { kind: 'late' };
  }
}

/** The end of a child, which is the result of the call that started it. */
function childAnswered(state: SessionState, reply: ChildReply, context: DecisionContext): DirectDecision {
  const { turn } = state;
  const child = openCallOf(state, reply.commandId);
  if (!turn || child?.call.callId !== reply.callId) return { kind: 'late' };
  return settleCall(state, turn, child.call, childResult(reply), context);
}

/** What policies made of a running call's result. A question about messages that changed since is answered for nothing. */
function resultAnswered(state: SessionState, turn: TurnState, reply: HookReply): DirectDecision {
  if (reply.seam === 'pre-step') return { kind: 'due' };
  const call = awaitedResult(state, reply.commandId);
  const { asked } = reply;
  if (!call || !asked || turn.phase.at !== 'step') return { kind: 'late' };
  if (reply.result.status === 'deferred') {
    const work = hookWork.postTool(state, turn, turn.phase.step, call, asked);
    return { kind: 'asks', work, at: reply.result.deferred.until };
  }
  const events = postToolAnswered(turn, workStep(turn), call, reply, asked);
  return { events: [...answerMarks(reply, { callId: call.callId }), ...events] };
}

/** Work that would go on later, in a turn that is being cancelled: it is not waited for, the rest still is. */
function givenUp(state: SessionState, turn: TurnState, work: AwaitedWork): SessionEvent[] {
  const call = callOf(turn, work);
  if (!call) return endCutTurn(state, turn);
  const cancelled = errorResult({ name: 'Cancelled', code: 'cancelled', text: 'This call was cancelled.' });
  return [toolResult(turn, work.command.step, call, cancelled)];
}

function deferred(
  work: AwaitedWork,
  deferral: Omit<Extract<SessionEvent, { type: 'work.deferred' }>['data'], 'what' | 'attempt'>,
): SessionEvent {
  const { what, attempt } = work.command;
  return { type: 'work.deferred', data: { what, attempt, ...deferral } };
}
