import type { HookCommand, HookReply, PolicyContext, SeamDecision, SessionEvent } from '@jetloop/contracts';
import { APPROVAL_PATIENCE_MS } from './approval.js';
import { settledWithError, toolCall } from './call-events.js';
import { digestOf } from './digest.js';
import { openCalls, workStep } from './evolve.js';
import { failure } from './failure.js';
import { joined } from './joining.js';
import type { DecisionContext } from './next.js';
import type { CallState, QueuedMessage, SessionState, TurnState } from './state.js';

/** What the answer of a seam makes of the turn. Every answered seam leaves a mark in the log. */
export function hookAnswered(
  state: SessionState,
  turn: TurnState,
  { subject }: HookCommand,
  reply: HookReply,
  context: DecisionContext,
): SessionEvent[] {
  const observed = reply.observed.map((note): SessionEvent => ({
    type: 'policy.decided',
    data: { seam: reply.seam, ...note },
  }));
  if (subject.seam === 'prompt-submit') {
    const message = state.queue.find((queued) => queued.messageId === subject.messageId);
    return message ? [...observed, ...promptAnswered(turn, message, reply)] : observed;
  }
  const call = subject.seam === 'pre-tool' ? openCalls(state).find(({ n }) => n === subject.n) : undefined;
  return call && turn.phase.at === 'step'
    ? [...observed, ...preToolAnswered(turn, turn.phase.step.step, call, reply, context)]
    : observed;
}

function promptAnswered(turn: TurnState, message: QueuedMessage, reply: HookReply): SessionEvent[] {
  const { messageId, content, source } = message;
  const blocked = (reason: string): SessionEvent => ({
    type: 'prompt.blocked',
    data: { turn: turn.turn, messageId, content: [...content], source, reason },
  });
  const decided = (policy: string, decision: string, reason?: string): SessionEvent => ({
    type: 'policy.decided',
    data: { seam: 'prompt-submit', policy, decision, messageId, ...(reason === undefined ? {} : { reason }) },
  });
  const { result } = reply;
  if (result.status === 'deferred') return [];
  if (result.status === 'failed') {
    const { policy, error } = result;
    const text = `Policy ${policy} failed: ${error.message}`;
    return [decided(policy, 'failed', error.message), blocked(text), failure(turn, workStep(turn), error.code, text)];
  }
  const { decision } = result;
  if (decision.decision === 'block' || decision.decision === 'deny') {
    return [decided(decision.policy, 'block', decision.reason), blocked(decision.reason)];
  }
  if (decision.decision !== 'allow' && decision.decision !== 'none') {
    const text = `A policy answered ${decision.decision}, which prompt-submit does not know.`;
    return [blocked(text), failure(turn, workStep(turn), 'policy_failed', text)];
  }
  const rewritten = decision.decision === 'allow' ? decision.content : undefined;
  const marks =
    rewritten && decision.decision === 'allow' ? decision.policies.map((policy) => decided(policy, 'rewrite')) : [];
  return [...marks, joined(turn, message, rewritten), ...contexts(turn, decision.context)];
}

function preToolAnswered(
  turn: TurnState,
  step: number,
  call: CallState,
  reply: HookReply,
  context: DecisionContext,
): SessionEvent[] {
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
  switch (decision.decision) {
    case 'none':
    case 'allow':
      return allowed(turn, step, call, decision, decided);
    case 'deny':
    case 'block':
      return denied(
        decision.policy,
        'deny',
        decision.reason,
        `Denied by policy ${decision.policy}: ${decision.reason}`,
      );
    case 'ask':
      return asked(turn, step, call, decision, decided, reply.policyVersion, context);
    case 'accept':
    case 'block-result':
    case 'continue':
    case 'stop':
    case 'compact': {
      const policy = 'policy' in decision ? decision.policy : 'unnamed';
      const reason = `it answered ${decision.decision}, which pre-tool does not know`;
      return denied(policy, 'failed', reason, `Denied: policy ${policy} failed (${reason}).`);
    }
  }
}

type Decided = (policy: string, decision: string, reason?: string) => SessionEvent;

function allowed(
  turn: TurnState,
  step: number,
  call: CallState,
  decision: Extract<SeamDecision, { decision: 'none' | 'allow' }>,
  decided: Decided,
): SessionEvent[] {
  const rewritten = decision.decision === 'allow' ? decision.arguments : undefined;
  const marks =
    rewritten && decision.decision === 'allow' ? decision.policies.map((policy) => decided(policy, 'rewrite')) : [];
  return [...marks, toolCall(turn, step, call, 'allow', rewritten), ...contexts(turn, decision.context)];
}

/** A person is asked; the call waits, costing nothing, until they decide or the question expires. */
function asked(
  turn: TurnState,
  step: number,
  call: CallState,
  decision: Extract<SeamDecision, { decision: 'ask' }>,
  decided: Decided,
  policyVersion: string | undefined,
  { now }: DecisionContext,
): SessionEvent[] {
  const recorded = toolCall(turn, step, call, 'ask', decision.arguments);
  const requested: SessionEvent = {
    type: 'approval.requested',
    data: {
      approvalId: `${turn.turn}-${step}-${call.n}`,
      callId: call.callId,
      argumentsHash: digestOf(recorded.data.effective),
      ...(policyVersion === undefined ? {} : { policyVersion }),
      expiresAt: new Date(Date.parse(now) + (decision.expiresInMs ?? APPROVAL_PATIENCE_MS)).toISOString(),
      question: decision.question ?? `May ${call.name} run?`,
    },
  };
  return [decided(decision.policy, 'ask', decision.question), recorded, requested, ...contexts(turn, decision.context)];
}

function contexts(turn: TurnState, added: readonly PolicyContext[]): SessionEvent[] {
  return added.map(({ policy, content }) => ({
    type: 'context.message',
    data: { turn: turn.turn, content, source: { kind: 'policy', name: policy } },
  }));
}
