import type { CallState, TurnState } from '../state.js';
import type { AwaitedWork } from '../work/work.js';

/** The call that a tool command runs; undefined for a list. */
export function callOf(turn: TurnState, work: AwaitedWork): CallState | undefined {
  if (work.kind !== 'tool' || work.command.op !== 'call' || turn.phase.at !== 'step') return undefined;
  return turn.phase.step.answer?.calls[work.command.n];
}
