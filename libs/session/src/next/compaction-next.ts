import type { SessionEvent } from '@jetloop/contracts';
import { chooseRange } from '../compaction/choose-range.js';
import { failure } from '../answers/failure.js';
import type { CompactionState, SessionState, TurnState } from '../state.js';
import { workStep } from '../evolve/in-turn.js';
import { overBudget } from './begin-step.js';
import type { DecisionContext } from './decision-context.js';

/** A compaction that is wanted begins, unless policies are asked first. A failed one leaves the conversation as it was. */
export function compactionNext(
  state: SessionState,
  turn: TurnState,
  { stage, trigger }: CompactionState,
  context: DecisionContext,
): SessionEvent[] {
  if (stage === 'running' || context.seams.has('pre-compact')) return [];
  return startCompaction(state, turn, trigger);
}

/** The start of a compaction; where nothing can be replaced, or no budget is left, its failed end. */
export function startCompaction(
  state: SessionState,
  turn: TurnState,
  trigger: CompactionState['trigger'],
): SessionEvent[] {
  const range = chooseRange(state.conversation);
  if (range && !overBudget(state)) return [{ type: 'compaction.start', data: { turn: turn.turn, range } }];
  const reason = range
    ? 'no budget is left for a summary'
    : 'nothing of the conversation lies behind a finished step or turn';
  return [
    { type: 'policy.decided', data: { seam: 'pre-compact', policy: 'loop-orchestrator', decision: 'block', reason } },
    ...notCompacted(turn, trigger, reason),
  ];
}

/** What a compaction that did not come about means: a request that overflowed cannot be made, everything else goes on. */
export function notCompacted(turn: TurnState, trigger: CompactionState['trigger'], reason: string): SessionEvent[] {
  if (trigger === 'policy') return [];
  const message = `The conversation is longer than the model can take, and could not be compacted: ${reason}`;
  return [failure(turn, workStep(turn), 'context_overflow', message)];
}
