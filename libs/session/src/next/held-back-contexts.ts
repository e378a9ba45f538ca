import type { SessionEvent } from '@jetloop/contracts';
import type { TurnState } from '../state.js';

/** Context of post-tool policies, in call order, behind the last result of the step: call and result stay adjacent. */
export function heldBackContexts(turn: TurnState): SessionEvent[] {
  if (turn.phase.at !== 'step') return [];
  const { answer, contextsAdded } = turn.phase.step;
  return (answer?.calls ?? [])
    .flatMap(({ settled }) => settled?.context ?? [])
    .slice(contextsAdded)
    .map(({ policy, content }) => ({
      type: 'context.message',
      data: { turn: turn.turn, content, source: { kind: 'policy', name: policy } },
    }));
}
