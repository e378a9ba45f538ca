import type { SessionEvent, TurnEnd } from '@jetloop/contracts';
import type { TurnState } from '../state.js';

/** How a turn ends that nothing else ended: precedence of spec 2.4. */
export function endOf(turn: TurnState): TurnEnd {
  if (turn.cancelling?.closes !== undefined) return { kind: 'closed' };
  if (turn.cancelling) return { kind: 'aborted', reason: turn.cancelling.reason };
  if (turn.failure) return { kind: 'error', ...turn.failure };
  if (turn.sawRefusal) return { kind: 'refused' };
  if (turn.sawMaxTokens) return { kind: 'max-tokens' };
  return { kind: 'completed' };
}

export function turnEnd(turn: TurnState, reason: TurnEnd): SessionEvent {
  return { type: 'turn.end', data: { turn: turn.turn, reason } };
}
