import { workStep } from '../evolve/in-turn.js';
import type { SessionState, StepState, TurnState } from '../state.js';
import { plus, timers } from '../work/timers.js';
import type { AwaitedWork, Work } from '../work/work.js';
import { workCommon } from '../work/work-common.js';

/** Milliseconds that a turn may take where its agent has no deadline: a run that comes later is not begun. */
const TURN_PATIENCE_MS = 7 * 24 * 3_600_000;
/** Milliseconds that a cancelled harness turn waits for its bridge (spec 6.4). */
export const HARNESS_CANCEL_GRACE_MS = 30_000;

/** The command that drives the agent through the open step. */
export function harnessWork(state: SessionState, turn: TurnState, step: StepState): AwaitedWork {
  const where = { turn: turn.turn, step: workStep(turn) };
  const common = workCommon(state, where, 'acp', step.at, state.agent.deadlines.turn ?? TURN_PATIENCE_MS);
  return { kind: 'acp', command: { ...common, op: 'run' } };
}

/** Timers that end the permissions that wait for a person. */
export function harnessTimers({ harness }: StepState): Work[] {
  return [...(harness?.approvals.values() ?? [])].map(({ approvalId, expiresAt }) => ({
    kind: 'timer',
    name: timers.approval(approvalId),
    dueAt: expiresAt,
  }));
}

/** When a cancelled turn ends whose workers do not answer. */
export function cancelDueAt(turn: TurnState, at: string, graceMs: number): string {
  const isHarness = turn.phase.at === 'step' && turn.phase.step.harness !== undefined;
  return plus(at, isHarness ? HARNESS_CANCEL_GRACE_MS : graceMs);
}
