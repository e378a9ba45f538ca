import type { SessionEvent } from '@jetloop/contracts';
import { reservedBy } from '../children/child.js';
import { failure } from '../answers/failure.js';
import type { SessionState, TurnState } from '../state.js';
import type { DecisionContext } from './decision-context.js';
import { endOf, turnEnd } from './end-of-turn.js';
import { joined, joining } from './joining.js';
import { wantsToolList } from './tool-list.js';

/** What comes before a step, in order: the limits, steering that joins, the list of tools, the policies. */
export function beginStep(state: SessionState, turn: TurnState, context: DecisionContext): SessionEvent[] {
  if (turn.isInjection && turn.allowed === 0 && turn.lastBlock === undefined) return [turnEnd(turn, endOf(turn))];
  if (turn.allowed === 0) return [turnEnd(turn, { kind: 'rejected', reason: turn.lastBlock ?? 'no prompt passed' })];
  const budget = overBudget(state);
  if (budget === 'price_unknown') return [priceUnknown(turn)];
  if (budget) return [turnEnd(turn, { kind: 'budget-exceeded' })];
  if (turn.steps >= state.agent.limits.maxSteps) return [turnEnd(turn, { kind: 'max-steps' })];
  const steering = joining(state);
  if (steering.length > 0)
    return context.seams.has('prompt-submit') ? [] : steering.map((message) => joined(turn, message));
  if (wantsToolList(state, turn)) return [];
  const step = turn.steps + 1;
  if (context.seams.has('pre-step') && turn.preStepped !== step && !state.agent.harness) return [];
  return [{ type: 'step.start', data: { turn: turn.turn, step } }];
}

/** Whether the session may make no further model call: what was used and what children hold has reached a budget. */
export function overBudget(state: SessionState): 'budget-exceeded' | 'price_unknown' | undefined {
  const { tokens, cost } = state.agent.budgets;
  const reserved = reservedBy(state);
  if (tokens !== undefined && state.used.tokens + reserved.tokens >= tokens) return 'budget-exceeded';
  if (cost === undefined) return undefined;
  if (state.used.cost === null) return 'price_unknown';
  return state.used.cost + reserved.cost >= cost ? 'budget-exceeded' : undefined;
}

function priceUnknown(turn: TurnState): SessionEvent {
  const message =
    'The session has a cost budget, but a model call had no known price: give its target prices, or budget tokens instead.';
  return failure(turn, turn.steps + 1, 'price_unknown', message);
}
