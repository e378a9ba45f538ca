import type { Attempt, LlmReply, Reply, SessionEvent, ToolReply } from '@jetloop/contracts';
import { settledWithError } from './call-events.js';
import type { DirectDecision } from './direct-decision.js';
import { failure } from './failure.js';
import { hookAnswered } from './hook-answers.js';
import { joining } from './joining.js';
import { endCutTurn, type DecisionContext } from './next.js';
import { awaitedWork, delaysCancel, type AwaitedWork } from './outstanding.js';
import type { CallState, SessionState, TurnState } from './state.js';

/** What a worker's reply makes of an open turn. A reply that is not awaited is late and never reaches the model. */
export function decideReply(state: SessionState, reply: Reply, context: DecisionContext): DirectDecision {
  const { turn } = state;
  if (reply.kind === 'child' || !turn) return { kind: 'late' };
  const work = awaitedWork(state).find((awaited) => awaited.command.commandId === reply.commandId);
  if (work?.kind !== reply.kind || (turn.cancelling && !delaysCancel(work))) return { kind: 'late' };
  if (reply.result.status === 'deferred') {
    return { events: turn.cancelling ? givenUp(state, turn, work) : [deferred(work, reply.result.deferred)] };
  }
  switch (reply.kind) {
    case 'llm':
      return { events: modelAnswered(state, turn, work, reply) };
    case 'tool':
      return { events: toolAnswered(state, turn, work, reply) };
    case 'hook':
      return work.kind === 'hook'
        ? { events: hookAnswered(state, turn, work.command, reply, context) }
        : { kind: 'late' };
  }
}

/** Work that would go on later, in a turn that is being cancelled: it is not waited for, the rest still is. */
function givenUp(state: SessionState, turn: TurnState, work: AwaitedWork): SessionEvent[] {
  const call = callOf(turn, work);
  if (!call) return endCutTurn(state, turn);
  return [
    settledWithError(turn, work.command.step, call, {
      name: 'Cancelled',
      code: 'cancelled',
      text: 'This call was cancelled.',
    }),
  ];
}

function deferred(work: AwaitedWork, deferral: { until: string; reason: string; attempts: Attempt[] }): SessionEvent {
  const { what, attempt } = work.command;
  return { type: 'work.deferred', data: { what, attempt, ...deferral } };
}

function modelAnswered(state: SessionState, turn: TurnState, work: AwaitedWork, reply: LlmReply): SessionEvent[] {
  const { result } = reply;
  const step = work.command.step;
  if (result.status === 'deferred') return [];
  const earlier = turn.deferrals
    .filter((deferral) => deferral.what === 'llm' && deferral.step === step)
    .flatMap((deferral) => deferral.attempts);
  const common = { turn: turn.turn, step, cost: result.cost, attempts: [...earlier, ...result.attempts] };
  if (result.status === 'ok') {
    const { content, finishReason, model, usage } = result;
    return [{ type: 'assistant.message', data: { ...common, content, finishReason, model, usage } }];
  }
  const { error, content = [], model = null, usage = null } = result;
  const partial: SessionEvent = {
    type: 'assistant.message',
    data: { ...common, content, finishReason: 'aborted', model, usage },
  };
  if (turn.cancelling) return content.length > 0 || usage ? [partial] : endCutTurn(state, turn);
  return [failure(turn, step, error.code, error.message, common.attempts)];
}

function toolAnswered(state: SessionState, turn: TurnState, work: AwaitedWork, reply: ToolReply): SessionEvent[] {
  const { result } = reply;
  const { step } = work.command;
  switch (result.status) {
    case 'deferred':
      return [];
    case 'listed': {
      const { digest, tools, unavailable } = result;
      // The step begins at once only where nothing else has to happen before it; else the list leaves its mark.
      const isReady = state.tools?.digest === digest && joining(state).length === 0;
      if (isReady) return [{ type: 'step.start', data: { turn: turn.turn, step } }];
      return [{ type: 'tools.listed', data: { digest, tools, ...(unavailable.length > 0 ? { unavailable } : {}) } }];
    }
    case 'failed': {
      const call = callOf(turn, work);
      const { code, message } = result.error;
      if (!call) return [failure(turn, step, code, message)];
      return [settledWithError(turn, step, call, { name: 'ToolFailed', code, text: message })];
    }
    case 'result': {
      const call = callOf(turn, work);
      if (!call) return [failure(turn, step, 'protocol', 'The tool runner answered a list with a result.')];
      const { status: _status, ...data } = result;
      return [{ type: 'tool.result', data: { turn: turn.turn, step, n: call.n, callId: call.callId, ...data } }];
    }
  }
}

function callOf(turn: TurnState, work: AwaitedWork): CallState | undefined {
  if (work.kind !== 'tool' || work.command.op !== 'call' || turn.phase.at !== 'step') return undefined;
  return turn.phase.step.answer?.calls[work.command.n];
}
