import type { EventData, SessionEvent } from '@jetloop/contracts';
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
  const isAskedAbout = context.seams.has('pre-compact') && 'range' in compactable(state);
  return stage === 'running' || isAskedAbout ? [] : startCompaction(state, turn, trigger);
}

/** The start of a compaction; where there can be none, the record of that: no policy is asked about it. */
export function startCompaction(
  state: SessionState,
  turn: TurnState,
  trigger: CompactionState['trigger'],
): SessionEvent[] {
  const found = compactable(state);
  if ('range' in found) return [{ type: 'compaction.start', data: { turn: turn.turn, range: found.range } }];
  const { reason } = found;
  return [
    { type: 'policy.decided', data: { seam: 'pre-compact', policy: 'loop-orchestrator', decision: 'block', reason } },
    ...notCompacted(turn, trigger, reason),
  ];
}

/** What would be replaced, or why there is nothing, or no budget for it. */
function compactable(
  state: SessionState,
): { readonly range: EventData<'compaction.start'>['range'] } | { readonly reason: string } {
  const range = chooseRange(state.conversation);
  if (!range) return { reason: 'nothing of the conversation lies behind a finished step or turn' };
  return overBudget(state) ? { reason: 'no budget is left for a summary' } : { range };
}

/** What a compaction that did not come about means: a request that overflowed cannot be made, everything else goes on. */
export function notCompacted(turn: TurnState, trigger: CompactionState['trigger'], reason: string): SessionEvent[] {
  if (trigger === 'policy') return [];
  const message = `The conversation is longer than the model can take, and could not be compacted: ${reason}`;
  return [failure(turn, workStep(turn), 'context_overflow', message)];
}
