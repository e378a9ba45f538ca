import type { SessionEvent } from '@jetloop/contracts';
import { openChildren } from '../children/child.js';
import { awaitedWork, delaysCancel } from '../work/awaited-work.js';
import type { SessionState, TurnState } from '../state.js';
import { beginStep } from './begin-step.js';
import { compactionNext } from './compaction-next.js';
import { endCutTurn } from './cut-turn.js';
import type { DecisionContext } from './decision-context.js';
import { endOf, turnEnd } from './end-of-turn.js';
import { insideStep } from './inside-step.js';
import { joined, joining } from './joining.js';
import { idleNext } from './idle-next.js';

/**
 * The events that follow from the state alone, up to the next point where the session waits for something outside.
 * Empty: it waits. A decision calls this again with the state that these events make, until nothing follows.
 */
export function nextEvents(state: SessionState, context: DecisionContext): SessionEvent[] {
  const { turn } = state;
  if (!turn) return idleNext(state);
  if (turn.cancelling) return waitsForWorkers(state) ? [] : endCutTurn(state, turn);
  if (turn.failure) return endCutTurn(state, turn);
  if (turn.compaction) return compactionNext(state, turn, turn.compaction, context);
  switch (turn.phase.at) {
    case 'prompts':
      return submitPrompts(state, turn, turn.phase.pending, context);
    case 'between-steps':
      return beginStep(state, turn, context);
    case 'step':
      return insideStep(state, turn, turn.phase.step, context);
    case 'after-step':
      return behindStep(state, turn, turn.phase, context);
  }
}

function waitsForWorkers(state: SessionState): boolean {
  return awaitedWork(state).some(delaysCancel) || openChildren(state).length > 0;
}

function submitPrompts(
  state: SessionState,
  turn: TurnState,
  pending: readonly string[],
  context: DecisionContext,
): SessionEvent[] {
  if (context.seams.has('prompt-submit')) return [];
  return pending.flatMap((messageId) => {
    const message = state.queue.find((queued) => queued.messageId === messageId);
    return message ? [joined(turn, message)] : [];
  });
}

/** Steering that came meanwhile is never left behind by a stop, unless the answer before it was cut. */
function behindStep(
  state: SessionState,
  turn: TurnState,
  phase: Extract<TurnState['phase'], { at: 'after-step' }>,
  context: DecisionContext,
): SessionEvent[] {
  if (phase.asks && !phase.decided) return [];
  const decided = phase.decided ?? phase.default;
  const goesOn = decided === 'continue' || (!phase.isCut && joining(state).length > 0);
  return goesOn ? beginStep(state, turn, context) : [turnEnd(turn, endOf(turn))];
}
