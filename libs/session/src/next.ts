import type { FinishReason, Seam, SessionEvent, TurnEnd } from '@jetloop/contracts';
import { settledWithError, toolCall } from './call-events.js';
import { currentGroup, isRunnable } from './groups.js';
import { awaitedWork, delaysCancel } from './outstanding.js';
import { joined, joining } from './joining.js';
import { wantsToolList } from './tool-list.js';
import type { CallState, SessionState, StepState, TurnState } from './state.js';

/** The seams at which the loop asks policies. The others are not asked yet: a policy at one of them must be refused. */
export const askedSeams: readonly Seam[] = ['prompt-submit', 'pre-tool'];

/** Inputs of a decision that are not the log: time, and which seams have policies for this session. */
export interface DecisionContext {
  /** RFC 3339. */
  readonly now: string;
  readonly seams: ReadonlySet<Seam>;
}

/**
 * The events that follow from the state alone, up to the next point where the session waits for something outside.
 * Empty: it waits. A decision calls this again with the state that these events make, until nothing follows.
 */
export function nextEvents(state: SessionState, context: DecisionContext): SessionEvent[] {
  const { turn } = state;
  if (!turn) return startTurn(state);
  if (turn.cancelling) return awaitedWork(state).some(delaysCancel) ? [] : endCutTurn(state, turn);
  if (turn.failure) return endCutTurn(state, turn);
  switch (turn.phase.at) {
    case 'prompts':
      return submitPrompts(state, turn, turn.phase.pending, context);
    case 'between-steps':
      return beginStep(state, turn, context);
    case 'step':
      return insideStep(state, turn, turn.phase.step, context);
    case 'after-step':
      return goesOn(state, turn) ? beginStep(state, turn, context) : [turnEnd(turn, endOf(turn))];
  }
}

/**
 * Ends an open turn that was cancelled or failed: every open call gets its result, the step its end; a cancelled one
 * discards its prompts and steering.
 */
export function endCutTurn(state: SessionState, turn: TurnState): SessionEvent[] {
  const events: SessionEvent[] = [];
  const closes = turn.cancelling?.closes;
  if (turn.cancelling) {
    const reason = closes === undefined ? ('cancelled' as const) : ('closed' as const);
    const pending = new Set(turn.phase.at === 'prompts' ? turn.phase.pending : []);
    const discarded = state.queue.filter(({ messageId, lane }) => lane === 'step' || pending.has(messageId));
    events.push(
      ...discarded.map(({ messageId }): SessionEvent => ({ type: 'message.discarded', data: { messageId, reason } })),
    );
  }
  if (turn.phase.at === 'step') {
    const { step, answer } = turn.phase.step;
    const error = turn.cancelling
      ? { name: 'Cancelled', code: 'cancelled', text: `This call was cancelled (${turn.cancelling.reason}).` }
      : { name: 'NotRun', code: 'not_run', text: 'This call was not run: the turn failed.' };
    for (const call of answer?.calls ?? []) {
      if (call.settled) continue;
      if (!call.decided) events.push(toolCall(turn, step, call, 'allow'));
      if (call.approval && !call.approval.outcome) {
        const { approvalId } = call.approval;
        events.push({ type: 'approval.decided', data: { approvalId, outcome: 'cancelled', by: 'loop-orchestrator' } });
      }
      events.push(settledWithError(turn, step, call, error));
    }
    events.push({ type: 'step.end', data: { turn: turn.turn, step } });
  }
  events.push(turnEnd(turn, endOf(turn)));
  if (closes !== undefined) events.push({ type: 'session.closed', data: { reason: closes } });
  return events;
}

function startTurn(state: SessionState): SessionEvent[] {
  const prompts = state.queue.filter((message) => message.lane === 'turn');
  const messages = prompts.length > 0 ? prompts : state.queue.filter((message) => message.lane === 'inject');
  const [first] = messages;
  if (state.status !== 'open' || !first) return [];
  const trigger = { kind: prompts.length > 0 ? ('message' as const) : ('injection' as const), source: first.source };
  const messageIds = messages.map((message) => message.messageId);
  return [{ type: 'turn.start', data: { turn: state.turns + 1, trigger, messageIds } }];
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

function beginStep(state: SessionState, turn: TurnState, context: DecisionContext): SessionEvent[] {
  if (turn.isInjection && turn.allowed === 0 && turn.lastBlock === undefined) return [turnEnd(turn, endOf(turn))];
  if (turn.allowed === 0) return [turnEnd(turn, { kind: 'rejected', reason: turn.lastBlock ?? 'no prompt passed' })];
  if (turn.steps >= state.agent.limits.maxSteps) return [turnEnd(turn, { kind: 'max-steps' })];
  const budget = overBudget(state);
  if (budget === 'price_unknown') return [priceUnknown(turn)];
  if (budget) return [turnEnd(turn, { kind: 'budget-exceeded' })];
  const steering = joining(state);
  if (steering.length > 0)
    return context.seams.has('prompt-submit') ? [] : steering.map((message) => joined(turn, message));
  if (wantsToolList(state, turn)) return [];
  return [{ type: 'step.start', data: { turn: turn.turn, step: turn.steps + 1 } }];
}

function insideStep(state: SessionState, turn: TurnState, step: StepState, context: DecisionContext): SessionEvent[] {
  if (!step.answer) return [];
  const { calls, finishReason } = step.answer;
  const group = currentGroup(calls);
  if (!group) return endStep(state, turn, step, context);
  if (isCutShort(finishReason)) {
    const text = `This call was not run: the answer that holds it ended early (${finishReason}).`;
    return calls.flatMap((call) => refuseCall(turn, step, call, { name: 'NotRun', code: 'not_run', text }));
  }
  const undecided = group.find((call) => call.decided === undefined);
  return undecided ? decideCall(turn, step, undecided, context) : [];
}

/** Steering that arrived meanwhile joins before the step ends; behind a cut answer it waits for the next turn. */
function endStep(state: SessionState, turn: TurnState, step: StepState, context: DecisionContext): SessionEvent[] {
  const steering = isCut(turn) ? [] : joining(state);
  if (steering.length > 0 && context.seams.has('prompt-submit')) return [];
  return [
    ...steering.map((message) => joined(turn, message)),
    { type: 'step.end', data: { turn: turn.turn, step: step.step } },
  ];
}

function isCutShort(finishReason: FinishReason): boolean {
  return finishReason === 'max-tokens' || finishReason === 'content-filter' || finishReason === 'aborted';
}

function goesOn(state: SessionState, turn: TurnState): boolean {
  if (turn.phase.at !== 'after-step' || isCut(turn)) return false;
  return turn.phase.goesOn || joining(state).length > 0;
}

function decideCall(turn: TurnState, step: StepState, call: CallState, context: DecisionContext): SessionEvent[] {
  if (!call.facts) {
    const text = `There is no tool named ${JSON.stringify(call.name)}. Use one of the tools that are listed.`;
    return refuseCall(turn, step, call, { name: 'UnknownTool', code: 'unknown_tool', text });
  }
  if (!call.parsed.ok) {
    const text = `The arguments of ${call.name} cannot be used: ${call.parsed.problem}.`;
    return refuseCall(turn, step, call, { name: 'InvalidArguments', code: 'invalid_arguments', text });
  }
  return isRunnable(call) && context.seams.has('pre-tool') ? [] : [toolCall(turn, step.step, call, 'allow')];
}

function refuseCall(
  turn: TurnState,
  step: StepState,
  call: CallState,
  error: { name: string; code: string; text: string },
): SessionEvent[] {
  return [toolCall(turn, step.step, call, 'allow'), settledWithError(turn, step.step, call, error)];
}

function overBudget(state: SessionState): 'budget-exceeded' | 'price_unknown' | undefined {
  const { tokens, cost } = state.agent.budgets;
  if (tokens !== undefined && state.used.tokens >= tokens) return 'budget-exceeded';
  if (cost === undefined) return undefined;
  if (state.used.cost === null) return 'price_unknown';
  return state.used.cost >= cost ? 'budget-exceeded' : undefined;
}

function priceUnknown(turn: TurnState): SessionEvent {
  const message =
    'The session has a cost budget, but a model call had no known price: give its target prices, or budget tokens instead.';
  return {
    type: 'turn.error',
    data: { turn: turn.turn, step: turn.steps + 1, error: { name: 'PriceUnknown', code: 'price_unknown', message } },
  };
}

/** The last answer ended early: its turn goes no further by itself. */
function isCut(turn: TurnState): boolean {
  return turn.sawMaxTokens || turn.sawRefusal;
}

/** Precedence of spec 2.4. */
function endOf(turn: TurnState): TurnEnd {
  if (turn.cancelling?.closes !== undefined) return { kind: 'closed' };
  if (turn.cancelling) return { kind: 'aborted', reason: turn.cancelling.reason };
  if (turn.failure) return { kind: 'error', ...turn.failure };
  if (turn.sawRefusal) return { kind: 'refused' };
  if (turn.sawMaxTokens) return { kind: 'max-tokens' };
  return { kind: 'completed' };
}

function turnEnd(turn: TurnState, reason: TurnEnd): SessionEvent {
  return { type: 'turn.end', data: { turn: turn.turn, reason } };
}
