import type { HookReply, PolicyContext, SessionEvent, SettledResult } from '@jetloop/contracts';
import { toolResult } from '../tools/call-events.js';
import { errorResult, type CallError } from '../tools/error-result.js';
import type { CallState, TurnState } from '../state.js';
import { decided, misplaced } from './policy-marks.js';

/** The result as policies left it. Whether it is an error, and whose call it answers, they cannot change. */
export function postToolAnswered(
  turn: TurnState,
  step: number,
  call: CallState,
  { result, asked }: HookReply,
  shown: SettledResult,
): SessionEvent[] {
  const { callId } = call;
  const original = asked ?? shown;
  const mark = (policy: string, decision: string, reason?: string) =>
    decided('post-tool', policy, decision, { callId, ...(reason === undefined ? {} : { reason }) });
  const instead = (error: CallError): SettledResult => ({
    ...errorResult(error),
    durationMs: original.durationMs,
    ...(original.child ? { child: original.child } : {}),
  });
  const failed = (policy: string, reason: string, added: readonly PolicyContext[] = []): SessionEvent[] => {
    const text = `The result is withheld: policy ${policy} failed (${reason}).`;
    const withheld = instead({ name: 'Blocked', code: 'blocked', text });
    return [mark(policy, 'failed', reason), toolResult(turn, step, call, withheld, [...added])];
  };
  if (result.status === 'deferred') return [];
  if (result.status === 'failed') return failed(result.policy, result.error.message, result.context);
  const { decision } = result;
  switch (decision.decision) {
    case 'none':
      return [toolResult(turn, step, call, original, decision.context)];
    case 'accept': {
      if (!decision.content) return [toolResult(turn, step, call, original, decision.context)];
      // The output says the same in another form: what policies took out of the content must not stay in it.
      const { output: _dropped, ...rest } = original;
      const marks = decision.policies.map((policy) => mark(policy, 'rewrite'));
      return [...marks, toolResult(turn, step, call, { ...rest, content: decision.content }, decision.context)];
    }
    case 'block-result': {
      const withheld = instead({ name: 'Blocked', code: 'blocked', text: decision.feedback });
      return [
        mark(decision.policy, 'block', decision.feedback),
        toolResult(turn, step, call, withheld, decision.context),
      ];
    }
    case 'allow':
    case 'block':
    case 'deny':
    case 'ask':
    case 'continue':
    case 'stop':
    case 'compact':
      return failed('policy' in decision ? decision.policy : 'unnamed', misplaced('post-tool', decision.decision));
  }
}
