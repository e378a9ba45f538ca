import type { SessionEvent } from '@jetloop/contracts';
import { reserve } from '../children/child.js';
import { digestOf } from '../digest.js';
import { isCutShort } from '../evolve/apply-turn.js';
import { approvalRequested, isQuestion, mayRun } from '../tools/approval.js';
import { toolCall, toolResult } from '../tools/call-events.js';
import { currentGroup, isRunnable } from '../tools/groups.js';
import { presetResult } from '../tools/preset-result.js';
import type { CallState, SessionState, StepState, TurnState } from '../state.js';
import type { DecisionContext } from './decision-context.js';
import { heldBackContexts } from './held-back-contexts.js';
import { joined, joining } from './joining.js';

/** The calls of the answer, group by group: each is decided, then they run; behind the last result the step ends. */
export function insideStep(
  state: SessionState,
  turn: TurnState,
  step: StepState,
  context: DecisionContext,
): SessionEvent[] {
  if (!step.answer) return [];
  const group = currentGroup(step.answer.calls);
  if (!group) return endStep(state, turn, step, context);
  const undecided = group.find((call) => call.decided === undefined);
  if (undecided) return decideCall(state, turn, step, undecided, context);
  return group.flatMap((call) => (call.settled ? [] : settle(state, turn, step, call, context)));
}

/** Calls that cannot run are recorded without a question; the others are asked about where policies want that. */
function decideCall(
  state: SessionState,
  turn: TurnState,
  step: StepState,
  call: CallState,
  context: DecisionContext,
): SessionEvent[] {
  const canRun = isRunnable(call) && step.answer !== undefined && !isCutShort(step.answer.finishReason);
  if (canRun && context.seams.has('pre-tool')) return [];
  const effective = call.parsed.ok ? call.parsed.value : null;
  const reserved = call.name === 'spawn_agent' && canRun ? reserve(state, effective) : undefined;
  return [toolCall(turn, step.step, call, 'allow', { reserved })];
}

/** Results that follow from the log are recorded, unless policies see them first; a question of the model is asked. */
function settle(
  state: SessionState,
  turn: TurnState,
  step: StepState,
  call: CallState,
  context: DecisionContext,
): SessionEvent[] {
  const preset = presetResult(state, step, call);
  if (preset) return context.seams.has('post-tool') ? [] : [toolResult(turn, step.step, call, preset)];
  const { decided, approval } = call;
  if (call.name !== 'ask_user' || isQuestion(approval) || !mayRun(call)) return [];
  const { question } = decided?.effective ?? {};
  return [
    approvalRequested(turn, step.step, call, {
      argumentsHash: digestOf(decided?.effective),
      question: typeof question === 'string' ? question : '',
      isQuestion: true,
      now: context.now,
    }),
  ];
}

/** Steering that arrived meanwhile joins before the step ends; behind a cut answer it waits for the next step or turn. */
function endStep(state: SessionState, turn: TurnState, step: StepState, context: DecisionContext): SessionEvent[] {
  const contexts = heldBackContexts(turn);
  if (contexts.length > 0) return contexts;
  const isCut = step.answer !== undefined && isCutShort(step.answer.finishReason);
  const steering = isCut ? [] : joining(state);
  if (steering.length > 0 && context.seams.has('prompt-submit')) return [];
  const asks = context.seams.has('turn-continuation') ? { asks: 'turn-continuation' as const } : {};
  return [
    ...steering.map((message) => joined(turn, message)),
    { type: 'step.end', data: { turn: turn.turn, step: step.step, ...asks } },
  ];
}
