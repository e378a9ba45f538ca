import type { HookReply, SessionEvent } from '@jetloop/contracts';
import { workStep } from '../evolve/in-turn.js';
import { joined } from '../next/joining.js';
import type { QueuedMessage, TurnState } from '../state.js';
import { failure } from './failure.js';
import { contexts, decided, misplaced } from './policy-marks.js';

/** A prompt, steering or an injection passes, as it was or rewritten; or it is blocked and the model never sees it. */
export function promptAnswered(turn: TurnState, message: QueuedMessage, { result }: HookReply): SessionEvent[] {
  const { messageId, content, source } = message;
  const blocked = (reason: string): SessionEvent => ({
    type: 'prompt.blocked',
    data: { turn: turn.turn, messageId, content: [...content], source, reason },
  });
  const mark = (policy: string, decision: string, reason?: string) =>
    decided('prompt-submit', policy, decision, { messageId, ...(reason === undefined ? {} : { reason }) });
  const failed = (policy: string, code: string, message: string): SessionEvent[] => {
    const text = `Policy ${policy} failed: ${message}`;
    return [mark(policy, 'failed', message), blocked(text), failure(turn, workStep(turn), code, text)];
  };
  if (result.status === 'deferred') return [];
  if (result.status === 'failed') return failed(result.policy, result.error.code, result.error.message);
  const { decision } = result;
  switch (decision.decision) {
    case 'none':
      return [joined(turn, message), ...contexts(turn.turn, decision.context)];
    case 'allow': {
      const marks = decision.content ? decision.policies.map((policy) => mark(policy, 'rewrite')) : [];
      return [...marks, joined(turn, message, decision.content), ...contexts(turn.turn, decision.context)];
    }
    case 'block':
    case 'deny':
      return [mark(decision.policy, 'block', decision.reason), blocked(decision.reason)];
    case 'ask':
    case 'accept':
    case 'block-result':
    case 'continue':
    case 'stop':
    case 'compact': {
      const policy = 'policy' in decision ? decision.policy : 'unnamed';
      return failed(policy, 'policy_failed', misplaced('prompt-submit', decision.decision));
    }
  }
}
