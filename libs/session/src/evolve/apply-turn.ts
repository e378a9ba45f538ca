import type { EventOf, FinishReason, RecordedEvent } from '@jetloop/contracts';
import type { CompactionState, SessionState, StepState, TurnState } from '../state.js';
import { BrokenLogError } from './broken-log.error.js';
import type { EventContext } from './event-context.js';
import { inCall, inTurn, workStep } from './in-turn.js';
import { beginAttempt } from '../harness/apply-harness.js';
import { emptyHarness } from '../harness/harness-state.js';
import { addUsed, costOf, usageOf } from './used.js';

type TurnEvent = RecordedEvent &
  EventOf<
    | 'turn.start'
    | 'turn.end'
    | 'turn.cancelling'
    | 'turn.error'
    | 'step.start'
    | 'step.end'
    | 'work.deferred'
    | 'compaction.start'
    | 'compaction.summary'
    | 'compaction.end'
  >;

/** Turns, steps and compactions from their start to their end. */
export function applyTurn(state: SessionState, event: TurnEvent, context: EventContext): SessionState {
  switch (event.type) {
    case 'turn.start':
      return startTurn(state, event, context);
    case 'turn.end':
      return endTurn(state, event);
    case 'turn.cancelling': {
      const { reason, closes } = event.data;
      const cancelling = { reason, at: context.at, ...(closes === undefined ? {} : { closes }) };
      return inTurn(state, event, (turn) => ({ ...turn, cancelling }));
    }
    case 'turn.error': {
      const { step, error, attempts = [] } = event.data;
      const failure = { step, code: error.code, message: error.message };
      const used = addUsed(state.used, usageOf(attempts, null), costOf(attempts));
      return inTurn({ ...state, used }, event, (turn) => ({ ...turn, failure }));
    }
    case 'step.start': {
      const step: StepState = {
        ...{ step: event.data.step, sequence: event.sequence, at: context.at, contextsAdded: 0 },
        ...(state.agent.harness ? { harness: emptyHarness } : {}),
      };
      const phase = { at: 'step' as const, step };
      return inTurn(state, event, (turn) => ({ ...turn, steps: turn.steps + 1, listed: true, steered: false, phase }));
    }
    case 'step.end':
      return inTurn(state, event, (turn) => behindStep(turn, event, context));
    case 'work.deferred':
      return deferred(state, event, context);
    case 'compaction.start': {
      const { range } = event.data;
      return inTurn(state, event, (turn) => {
        if (!turn.compaction) throw new BrokenLogError(event, 'no compaction was wanted');
        const { trigger, step, before } = turn.compaction;
        const begun = { stage: 'running' as const, sequence: event.sequence, at: context.at };
        return { ...turn, compaction: { ...begun, trigger, step, before, range } };
      });
    }
    case 'compaction.summary':
      return state;
    case 'compaction.end': {
      const { usage = null, cost = 0, attempts = [] } = event.data;
      const used = addUsed(state.used, usageOf(attempts, usage), cost);
      return inTurn({ ...state, used }, event, (turn) => withoutCompaction(turn, event.sequence));
    }
  }
}

/** The turn goes on behind a compaction that ended, or that was not wanted after all. The open step reads up to `sequence`. */
export function withoutCompaction({ compaction: _over, ...turn }: TurnState, sequence: number): TurnState {
  if (turn.phase.at !== 'step') return turn;
  return { ...turn, phase: { at: 'step', step: { ...turn.phase.step, sequence } } };
}

function startTurn(
  state: SessionState,
  event: RecordedEvent & EventOf<'turn.start'>,
  context: EventContext,
): SessionState {
  if (state.turn) throw new BrokenLogError(event, `turn ${state.turn.turn} is still open`);
  const turn: TurnState = {
    turn: event.data.turn,
    sequence: event.sequence,
    startedAt: context.at,
    phase: { at: 'prompts', pending: event.data.messageIds },
    allowed: 0,
    steps: 0,
    calls: 0,
    isInjection: event.data.trigger.kind === 'injection',
    steered: false,
    listed: false,
    disposed: 0,
    forced: 0,
    sawMaxTokens: false,
    sawRefusal: false,
  };
  const causations = { current: new Map<string, number>(), previous: state.causations.current };
  // The commit that ended the turn before may begin this one: what it gave up is still to be sent.
  const givenUp = state.givenUp.filter((child) => child.turn >= turn.turn - 1);
  return { ...state, turns: turn.turn, turn, givenUp, deferrals: [], causations };
}

/** Messages of the turn that have no disposition stay queued: the next turn takes them. */
function endTurn(state: SessionState, event: RecordedEvent & EventOf<'turn.end'>): SessionState {
  const { turn, ...rest } = state;
  const keepsSteering = turn !== undefined && turn.cancelling === undefined;
  const queue = keepsSteering
    ? state.queue.map((message) => (message.lane === 'step' ? { ...message, lane: 'turn' as const } : message))
    : state.queue;
  return { ...rest, queue, lastEnd: { reason: event.data.reason, sequence: event.sequence } };
}

function behindStep(turn: TurnState, event: RecordedEvent & EventOf<'step.end'>, { at }: EventContext): TurnState {
  const answer = turn.phase.at === 'step' ? turn.phase.step.answer : undefined;
  const wantsMore = (answer?.calls.length ?? 0) > 0 || turn.steered;
  const isWhole = answer !== undefined && !isCutShort(answer.finishReason);
  return {
    ...turn,
    phase: {
      at: 'after-step',
      default: wantsMore && isWhole ? 'continue' : 'stop',
      isCut: !isWhole,
      asks: event.data.asks !== undefined,
      endedAt: at,
    },
  };
}

/** An answer that ended early: its calls are not run, and by itself the turn goes no further. */
export function isCutShort(finishReason: FinishReason): boolean {
  return finishReason === 'max-tokens' || finishReason === 'content-filter' || finishReason === 'aborted';
}

/** A context that overflowed is deferred until the conversation is compacted. */
function deferred(
  state: SessionState,
  event: RecordedEvent & EventOf<'work.deferred'>,
  { at }: EventContext,
): SessionState {
  const { what, attempt, until, reason, attempts } = event.data;
  const isStart = what.startsWith('hook.session-start');
  const turn = isStart ? state.turns : (state.turn?.turn ?? 0);
  const step = isStart || !state.turn ? 0 : workStep(state.turn);
  const deferrals = [...state.deferrals, { what, turn, step, attempt, until, reason, attempts }];
  const next = what === 'acp' ? beginAttempt({ ...state, deferrals }, event) : { ...state, deferrals };
  if (reason === 'tool_changed') return toolChanged(next, event);
  if (reason !== 'context_overflow') return next;
  return inTurn(next, event, (open) => compactionWanted(open, 'overflow', event.sequence, at));
}

/** What a person approved is not what would run: the policies are asked about the call again. */
function toolChanged(state: SessionState, event: RecordedEvent & EventOf<'work.deferred'>): SessionState {
  const { what, schemaHash = '' } = event.data;
  return inCall(state, event, Number(what.split('.')[1]), (call) => ({
    ...call,
    ...(call.facts ? { facts: { ...call.facts, schemaHash } } : {}),
    asked: call.asked + 1,
    reevaluating: true,
  }));
}

/** A compaction that is wanted: the state from which it is asked about, or begins. `at`: RFC 3339. */
export function compactionWanted(
  turn: TurnState,
  trigger: CompactionState['trigger'],
  sequence: number,
  at: string,
): TurnState {
  const step = workStep(turn);
  const last = turn.lastCompaction;
  const before = last?.step === step ? last.before + 1 : 0;
  const compaction = { stage: 'wanted' as const, trigger, step, before, sequence, at };
  return { ...turn, compaction, lastCompaction: compaction };
}
