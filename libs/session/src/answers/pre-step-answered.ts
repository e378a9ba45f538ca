import type { HookReply, SessionEvent } from '@jetloop/contracts';
import { workStep } from '../evolve/in-turn.js';
import type { TurnState } from '../state.js';
import { failure } from './failure.js';
import { contexts, decided, misplaced } from './policy-marks.js';

/** The step begins, with what policies add to the conversation; or the conversation is compacted first. */
export function preStepAnswered(turn: TurnState, { result }: HookReply): SessionEvent[] {
  const step = workStep(turn);
  const failed = (policy: string, code: string, reason: string): SessionEvent[] => [
    decided('pre-step', policy, 'failed', { reason }),
    failure(turn, step, code, `Policy ${policy} failed: ${reason}`),
  ];
  if (result.status === 'deferred') return [];
  if (result.status === 'failed') return failed(result.policy, result.error.code, result.error.message);
  const { decision } = result;
  switch (decision.decision) {
    case 'none':
    case 'allow':
      return [...contexts(turn.turn, decision.context), { type: 'step.start', data: { turn: turn.turn, step } }];
    case 'compact':
      return [...contexts(turn.turn, decision.context), decided('pre-step', decision.policy, 'compact')];
    case 'accept':
    case 'block':
    case 'deny':
    case 'ask':
    case 'block-result':
    case 'continue':
    case 'stop': {
      const policy = 'policy' in decision ? decision.policy : 'unnamed';
      return failed(policy, 'policy_failed', misplaced('pre-step', decision.decision));
    }
  }
}
