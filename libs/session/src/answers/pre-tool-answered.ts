import type { HookReply, PolicyContext, SeamDecision, SessionEvent } from '@jetloop/contracts';
import { reserve } from '../children/child.js';
import { digestOf } from '../digest.js';
import type { DecisionContext } from '../next/decision-context.js';
import { approvalRequested } from '../tools/approval.js';
import { toolCall } from '../tools/call-events.js';
import type { CallState, SessionState, TurnState } from '../state.js';
import { ALL_POLICIES, contexts, decided, misplaced } from './policy-marks.js';

type Mark = (policy: string, decision: string, reason?: string) => SessionEvent;

/**
 * A call is recorded as allowed, denied or asked about. When the policies changed while a person thought, it is recorded
 * already: then their new answer alone counts.
 */
export function preToolAnswered(
  state: SessionState,
  turn: TurnState,
  step: number,
  call: CallState,
  { result, policyVersion }: HookReply,
  context: DecisionContext,
): SessionEvent[] {
  const mark: Mark = (policy, decision, reason) =>
    decided('pre-tool', policy, decision, { callId: call.callId, ...(reason === undefined ? {} : { reason }) });
  const refused = (
    policy: string,
    decision: 'deny' | 'failed',
    reason: string,
    added: readonly PolicyContext[] = [],
  ): SessionEvent[] => [
    mark(policy, decision, reason),
    ...(call.decided ? [] : [toolCall(turn, step, call, 'deny')]),
    ...contexts(turn.turn, added),
  ];
  if (result.status === 'deferred') return [];
  if (result.status === 'failed') return refused(result.policy, 'failed', result.error.message, result.context);
  const { decision } = result;
  switch (decision.decision) {
    case 'deny':
      return refused(decision.policy, 'deny', decision.reason, decision.context);
    case 'block':
      return refused(decision.policy, 'deny', decision.reason);
    case 'none':
    case 'allow':
    case 'ask': {
      const rewritten = 'arguments' in decision ? decision.arguments : undefined;
      if (call.decided && !isSame(call, rewritten))
        return refused(ALL_POLICIES, 'failed', 'the policies changed, and with them the arguments: call again');
      const marks = rewritten && !call.decided ? rewriters(decision).map((policy) => mark(policy, 'rewrite')) : [];
      const rest = contexts(turn.turn, decision.context);
      if (decision.decision === 'ask') {
        const asked = askPerson(turn, step, call, decision, policyVersion, context, mark);
        return [...marks, ...asked, ...rest];
      }
      if (call.decided) return [mark(ALL_POLICIES, 'allow'), ...rest];
      const effective = rewritten ?? (call.parsed.ok ? call.parsed.value : null);
      const reserved = call.name === 'spawn_agent' ? reserve(state, effective) : undefined;
      return [...marks, toolCall(turn, step, call, 'allow', { rewritten, reserved }), ...rest];
    }
    case 'accept':
    case 'block-result':
    case 'continue':
    case 'stop':
    case 'compact':
      return refused(
        'policy' in decision ? decision.policy : 'unnamed',
        'failed',
        misplaced('pre-tool', decision.decision),
      );
  }
}

/** A person is asked; the call waits, costing nothing, until they decide or the question expires. */
function askPerson(
  turn: TurnState,
  step: number,
  call: CallState,
  decision: Extract<SeamDecision, { decision: 'ask' }>,
  policyVersion: string | undefined,
  { now }: DecisionContext,
  mark: Mark,
): SessionEvent[] {
  const recorded = toolCall(turn, step, call, 'ask', { rewritten: decision.arguments });
  const requested = approvalRequested(turn, step, call, {
    argumentsHash: digestOf(call.decided?.effective ?? recorded.data.effective),
    ...(policyVersion === undefined ? {} : { policyVersion }),
    question: decision.question ?? `May ${call.name} run?`,
    now,
    expiresInMs: decision.expiresInMs,
  });
  return [mark(decision.policy, 'ask', decision.question), ...(call.decided ? [] : [recorded]), requested];
}

function rewriters(decision: Extract<SeamDecision, { decision: 'none' | 'allow' | 'ask' }>): readonly string[] {
  return decision.decision === 'none' ? [] : decision.policies;
}

/** Whether the policies would run what was recorded. */
function isSame(call: CallState, rewritten: Record<string, unknown> | undefined): boolean {
  const now = rewritten ?? (call.parsed.ok ? call.parsed.value : null);
  return digestOf(now) === digestOf(call.decided?.effective ?? null);
}
