import type { Seam } from '@jetloop/contracts';
import { neutralDecisions } from '../policy/policy-decision.js';
import { PolicyError } from '../policy/policy-error.js';
import type { HookAnswer } from './hook-answer.schema.js';

/**
 * What the dialect's answer decides at a seam. The strongest of its words counts: `continue: false`, a block or deny, ask, a rewrite.
 * The caller checks the result against the seam: a refusal without a reason is a failure.
 */
export function decisionOfAnswer(seam: Seam, answer: HookAnswer): unknown {
  if (answer.jetloop !== undefined) return answer.jetloop;
  const { hookSpecificOutput: output = {}, reason } = answer;
  const context = contextOf(output.additionalContext);
  const stopped = answer.continue === false;
  const why = stopped ? (answer.stopReason ?? reason) : (output.permissionDecisionReason ?? reason);
  if (seam === 'turn-continuation' && stopped) return { decision: 'stop' };
  if (stopped || answer.decision === 'block' || output.permissionDecision === 'deny') {
    return refusal(seam, why, context);
  }
  if (seam === 'pre-tool') {
    const rewritten = output.updatedInput === undefined ? {} : { arguments: output.updatedInput };
    if (output.permissionDecision !== 'ask') return { decision: 'allow', ...rewritten, ...context };
    return { decision: 'ask', ...(why !== undefined && { question: why }), ...rewritten, ...context };
  }
  return { ...neutralDecisions[seam], ...context };
}

/**
 * What exit code 2 and `decision: block` mean at a seam: at a turn's end it is the agent that must not stop.
 * @throws PolicyError where the seam cannot be blocked
 */
export function refusal(seam: Seam, reason: string | undefined, context: object = {}): unknown {
  switch (seam) {
    case 'pre-tool':
      return { decision: 'deny', reason, ...context };
    case 'post-tool':
      return { decision: 'block', feedback: reason, ...context };
    case 'prompt-submit':
    case 'pre-compact':
      return { decision: 'block', reason };
    case 'turn-continuation':
      if (reason === undefined || reason.trim() === '') {
        throw new PolicyError('invalid_decision', 'expected a reason to go on: it is what the model is told');
      }
      return { decision: 'continue', reason };
    case 'session-start':
    case 'pre-step':
      throw new PolicyError('invalid_decision', `${seam} cannot be blocked`);
  }
}

/** Text that a hook adds to the conversation. */
export function contextOf(text: string | undefined): { context?: { type: 'text'; text: string }[] } {
  return text === undefined || text.trim() === '' ? {} : { context: [{ type: 'text', text }] };
}
