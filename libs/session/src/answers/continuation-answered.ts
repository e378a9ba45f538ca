import type { HookReply, SessionEvent } from '@jetloop/contracts';
import type { TurnState } from '../state.js';
import { ALL_POLICIES, decided, misplaced } from './policy-marks.js';

/** Continuations in a row that policies may force. */
export const MAX_FORCED_CONTINUATIONS = 8;

/** What the model is told where the last word was its own and a policy gives no reason: no provider answers itself. */
const GO_ON = 'Go on.';

const SEAM = 'turn-continuation';

/** Whether the turn goes on. Why it does is steering of the next step; a policy that failed leaves the default. */
export function continuationAnswered(turn: TurnState, { result }: HookReply): SessionEvent[] {
  if (result.status === 'deferred' || turn.phase.at !== 'after-step') return [];
  if (result.status === 'failed') return [decided(SEAM, result.policy, 'failed', { reason: result.error.message })];
  const { decision } = result;
  switch (decision.decision) {
    case 'none':
    case 'allow':
      return [decided(SEAM, ALL_POLICIES, 'none')];
    case 'stop':
      return [decided(SEAM, decision.policy, 'stop')];
    case 'continue': {
      const { policy, reason } = decision;
      if (turn.phase.default === 'stop' && turn.forced >= MAX_FORCED_CONTINUATIONS) {
        const why = `policies forced ${MAX_FORCED_CONTINUATIONS} continuations in a row: the turn ends`;
        return [decided(SEAM, policy, 'override', { reason: why })];
      }
      const mark = decided(SEAM, policy, 'continue', reason === undefined ? {} : { reason });
      const told = reason ?? (turn.phase.default === 'stop' ? GO_ON : undefined);
      if (told === undefined) return [mark];
      const content = [{ type: 'text' as const, text: told }];
      return [
        mark,
        {
          type: 'steering.message',
          data: { turn: turn.turn, content, source: { kind: 'policy', name: policy } },
        },
      ];
    }
    case 'accept':
    case 'block':
    case 'deny':
    case 'ask':
    case 'block-result':
    case 'compact': {
      const policy = 'policy' in decision ? decision.policy : 'unnamed';
      return [decided(SEAM, policy, 'failed', { reason: misplaced(SEAM, decision.decision) })];
    }
  }
}
