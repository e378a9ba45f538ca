import type { SettledResult } from '@jetloop/contracts';
import { isControlTool } from '@jetloop/contracts';
import { openChildren } from '../children/child.js';
import { openCalls, workStep } from '../evolve/in-turn.js';
import type { DecisionContext } from '../next/decision-context.js';
import { mayRun } from '../tools/approval.js';
import { toolResult } from '../tools/call-events.js';
import type { CallState, SessionState, TurnState } from '../state.js';
import { hookWork, postToolWhat } from '../work/hook-work.js';
import { workId } from '../work/work-common.js';
import type { DirectDecision } from './direct-decision.js';

/** Records what a call came to, unless policies are to see it first. */
export function settleCall(
  state: SessionState,
  turn: TurnState,
  call: CallState,
  result: SettledResult,
  context: DecisionContext,
): DirectDecision {
  if (turn.phase.at === 'step' && context.seams.has('post-tool'))
    return { kind: 'asks', work: hookWork.postTool(state, turn, turn.phase.step, call, result) };
  return { events: [toolResult(turn, workStep(turn), call, result)] };
}

/** The running call whose result policies are asked about under this work id. Its result is in no event yet. */
export function awaitedResult(state: SessionState, commandId: string): CallState | undefined {
  const { turn } = state;
  if (!turn) return undefined;
  const children = new Set(openChildren(state).map(({ call }) => call.n));
  return openCalls(state)
    .filter((call) => !call.settled && mayRun(call) && (!isControlTool(call.name) || children.has(call.n)))
    .find((call) => workId(state, { turn: turn.turn, step: workStep(turn) }, postToolWhat(call), 1) === commandId);
}
