import type {
  Attempt,
  HookReply,
  LlmReply,
  PolicyContext,
  Reply,
  SeamDecision,
  SessionEvent,
  ToolReply,
} from '@jetloop/contracts';
import { settledWithError, toolCall } from './call-events.js';
import type { DirectDecision } from './decide.js';
import { endCutTurn } from './next.js';
import { awaitedWork, delaysCancel, type AwaitedWork } from './outstanding.js';
import type { CallState, SessionState, TurnState } from './state.js';

/** What a worker's reply makes of an open turn. A reply that is not awaited is late and never reaches the model. */
export function decideReply(state: SessionState, reply: Reply): DirectDecision {
  const { turn } = state;
  if (reply.kind === 'child' || !turn) return { kind: 'late' };
  const work = awaitedWork(state).find((awaited) => awaited.command.commandId === reply.commandId);
  if (work?.kind !== reply.kind || (turn.cancelling && !delaysCancel(work))) return { kind: 'late' };
  if (reply.result.status === 'deferred') {
    return { events: turn.cancelling ? endCutTurn(state, turn) : [deferred(work, reply.result.deferred)] };
  }
  switch (reply.kind) {
    case 'llm':
      return { events: modelAnswered(state, turn, work, reply) };
    case 'tool':
      return { events: toolAnswered(state, turn, work, reply) };
    case 'hook':
      return { events: hookAnswered(state, turn, reply) };
  }
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
      if (state.tools?.digest === digest) return [{ type: 'step.start', data: { turn: turn.turn, step } }];
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

function hookAnswered(state: SessionState, turn: TurnState, reply: HookReply): SessionEvent[] {
  const observed = reply.observed.map((note): SessionEvent => ({
    type: 'policy.decided',
    data: { seam: reply.seam, ...note },
  }));
  if (turn.phase.at === 'prompts') return [...observed, ...promptAnswered(state, turn, turn.phase.pending[0], reply)];
  if (turn.phase.at !== 'step') return observed;
  const undecided = turn.phase.step.answer?.calls.find((call) => call.decided === undefined);
  return undecided ? [...observed, ...preToolAnswered(turn, turn.phase.step.step, undecided, reply)] : observed;
}

function promptAnswered(
  state: SessionState,
  turn: TurnState,
  messageId: string | undefined,
  reply: HookReply,
): SessionEvent[] {
  const message = state.queue.find((queued) => queued.messageId === messageId);
  if (!message) return [];
  const { content, source } = message;
  const blocked = (reason: string): SessionEvent => ({
    type: 'prompt.blocked',
    data: { turn: turn.turn, messageId: message.messageId, content: [...content], source, reason },
  });
  const decided = (policy: string, decision: string, reason?: string): SessionEvent => ({
    type: 'policy.decided',
    data: {
      seam: 'prompt-submit',
      policy,
      decision,
      messageId: message.messageId,
      ...(reason === undefined ? {} : { reason }),
    },
  });
  const { result } = reply;
  if (result.status === 'deferred') return [];
  if (result.status === 'failed') {
    const { policy, error } = result;
    const text = `Policy ${policy} failed: ${error.message}`;
    return [decided(policy, 'failed', error.message), blocked(text), failure(turn, 0, error.code, text)];
  }
  const { decision } = result;
  if (decision.decision === 'block' || decision.decision === 'deny') {
    return [decided(decision.policy, 'block', decision.reason), blocked(decision.reason)];
  }
  if (decision.decision !== 'allow' && decision.decision !== 'none') {
    const text = `A policy answered ${decision.decision}, which prompt-submit does not know.`;
    return [blocked(text), failure(turn, 0, 'policy_failed', text)];
  }
  const rewritten = decision.decision === 'allow' ? decision.content : undefined;
  const passed: SessionEvent = {
    type: 'user.message',
    data: { turn: turn.turn, messageId: message.messageId, content: rewritten ?? [...content], source },
  };
  const marks =
    rewritten && decision.decision === 'allow' ? decision.policies.map((policy) => decided(policy, 'rewrite')) : [];
  return [...marks, passed, ...contexts(turn, decision.context)];
}

function preToolAnswered(turn: TurnState, step: number, call: CallState, reply: HookReply): SessionEvent[] {
  const decided = (policy: string, decision: string, reason?: string): SessionEvent => ({
    type: 'policy.decided',
    data: { seam: 'pre-tool', policy, decision, callId: call.callId, ...(reason === undefined ? {} : { reason }) },
  });
  const denied = (policy: string, decision: string, reason: string, text: string): SessionEvent[] => [
    decided(policy, decision, reason),
    toolCall(turn, step, call, 'deny'),
    settledWithError(turn, step, call, { name: 'Denied', code: 'denied', text }),
  ];
  const { result } = reply;
  if (result.status === 'deferred') return [];
  if (result.status === 'failed') {
    const { policy, error } = result;
    return denied(policy, 'failed', error.message, `Denied: policy ${policy} failed (${error.message}).`);
  }
  const { decision } = result;
  if (decision.decision === 'none' || decision.decision === 'allow')
    return allowed(turn, step, call, decision, decided);
  if (decision.decision === 'deny' || decision.decision === 'block') {
    return denied(decision.policy, 'deny', decision.reason, `Denied by policy ${decision.policy}: ${decision.reason}`);
  }
  const policy = 'policy' in decision ? decision.policy : 'unnamed';
  const reason = `it answered ${decision.decision}, which this version cannot carry out at pre-tool`;
  return denied(policy, 'failed', reason, `Denied: policy ${policy} failed (${reason}).`);
}

function allowed(
  turn: TurnState,
  step: number,
  call: CallState,
  decision: Extract<SeamDecision, { decision: 'none' | 'allow' }>,
  decided: (policy: string, decision: string) => SessionEvent,
): SessionEvent[] {
  const rewritten = decision.decision === 'allow' ? decision.arguments : undefined;
  const marks =
    rewritten && decision.decision === 'allow' ? decision.policies.map((policy) => decided(policy, 'rewrite')) : [];
  return [...marks, toolCall(turn, step, call, 'allow', rewritten), ...contexts(turn, decision.context)];
}

function contexts(turn: TurnState, added: readonly PolicyContext[]): SessionEvent[] {
  return added.map(({ policy, content }) => ({
    type: 'context.message',
    data: { turn: turn.turn, content, source: { kind: 'policy', name: policy } },
  }));
}

function failure(
  turn: TurnState,
  step: number,
  code: string,
  message: string,
  attempts: readonly Attempt[] = [],
): SessionEvent {
  const error = { name: errorName(code), code, message };
  return {
    type: 'turn.error',
    data: { turn: turn.turn, step, error, ...(attempts.length > 0 ? { attempts: [...attempts] } : {}) },
  };
}

/** `rate_limited` -> `RateLimited`. */
function errorName(code: string): string {
  return code
    .split('_')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
