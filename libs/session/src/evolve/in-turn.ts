import type { RecordedEvent } from '@jetloop/contracts';
import type { CallState, SessionState, StepState, TurnState } from '../state.js';
import { BrokenLogError } from './broken-log.error.js';

/** Changes the open turn. @throws BrokenLogError when none is open */
export function inTurn(
  state: SessionState,
  event: RecordedEvent,
  change: (turn: TurnState) => TurnState,
): SessionState {
  if (!state.turn) throw new BrokenLogError(event, 'no turn is open');
  return { ...state, turn: change(state.turn) };
}

/** Changes the open step. @throws BrokenLogError when none is open */
export function inStep(
  state: SessionState,
  event: RecordedEvent,
  change: (step: StepState) => StepState,
): SessionState {
  return inTurn(state, event, (turn) => {
    if (turn.phase.at !== 'step') throw new BrokenLogError(event, 'no step is open');
    return { ...turn, phase: { at: 'step', step: change(turn.phase.step) } };
  });
}

/** Changes call `n` of the open step. @throws BrokenLogError when there is none */
export function inCall(
  state: SessionState,
  event: RecordedEvent,
  n: number | undefined,
  change: (call: CallState) => CallState,
): SessionState {
  return inStep(state, event, (step) => {
    const { answer } = step;
    if (n === undefined || !answer?.calls[n]) throw new BrokenLogError(event, `the open step has no call ${n ?? '?'}`);
    const calls = answer.calls.map((call) => (call.n === n ? change(call) : call));
    return { ...step, answer: { ...answer, calls } };
  });
}

/** The calls of the open step, in call order. */
export function openCalls(state: SessionState): readonly CallState[] {
  const phase = state.turn?.phase;
  return phase?.at === 'step' ? (phase.step.answer?.calls ?? []) : [];
}

/** The step that work of the open turn belongs to: the open one, or the one about to begin; 0 while prompts are submitted. */
export function workStep(turn: TurnState): number {
  switch (turn.phase.at) {
    case 'prompts':
      return 0;
    case 'step':
      return turn.phase.step.step;
    case 'between-steps':
    case 'after-step':
      return turn.steps + 1;
  }
}
