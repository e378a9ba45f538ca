import {
  isKnownEvent,
  type Commit,
  type ContentBlock,
  type EventOf,
  type RecordedEvent,
  type UnknownEvent,
} from '@jetloop/contracts';
import { digestOf } from './digest.js';
import { parseArguments } from './parse-arguments.js';
import type { CallState, SessionState, StepState, TurnState } from './state.js';

/** What an event takes from its commit. */
export interface EventContext {
  readonly tenant: string;
  readonly session: string;
  readonly causation: string;
  readonly at: string;
}

/** An event that cannot follow the state: the log is damaged, or was written by a build with other rules. */
export class BrokenLogError extends Error {
  override readonly name = 'BrokenLogError';
  constructor(event: { sequence: number; type: string }, problem: string) {
    super(`event ${event.sequence} ${event.type}: ${problem}`);
  }
}

/** Folds a commit into the state. @throws BrokenLogError */
export function applyCommit(state: SessionState | undefined, commit: Commit): SessionState {
  let next = state;
  for (const event of commit.events) next = evolve(next, event, commit);
  if (next === undefined) throw new BrokenLogError({ sequence: 0, type: 'commit' }, 'it holds no event');
  const current = new Set(next.causations.current).add(commit.causation);
  return { ...next, causations: { ...next.causations, current } };
}

/** The state after an event. Reads no clock and makes no random value. @throws BrokenLogError */
export function evolve(
  state: SessionState | undefined,
  event: RecordedEvent | UnknownEvent,
  context: EventContext,
): SessionState {
  const expected = state?.nextSequence ?? 0;
  if (event.sequence !== expected) throw new BrokenLogError(event, `expected sequence ${expected}`);
  if (state === undefined) {
    if (!isKnownEvent(event) || event.type !== 'session.created')
      throw new BrokenLogError(event, 'a log begins with session.created');
    return created(event, context);
  }
  const next = isKnownEvent(event) ? apply(state, event, context) : state;
  return { ...next, nextSequence: event.sequence + 1 };
}

function created(event: RecordedEvent & EventOf<'session.created'>, context: EventContext): SessionState {
  return {
    tenant: context.tenant,
    session: context.session,
    status: 'open',
    agent: event.data.agent,
    workspace: event.data.workspace,
    createdBy: context.causation,
    nextSequence: 1,
    turns: 0,
    queue: [],
    messages: new Map(),
    approvals: new Map(),
    used: { tokens: 0, cost: 0 },
    causations: { current: new Set(), previous: new Set() },
  };
}

function apply(state: SessionState, event: RecordedEvent, context: EventContext): SessionState {
  switch (event.type) {
    case 'message.queued': {
      const { messageId, lane, content, source, output } = event.data;
      const queued = { messageId, lane, content, source, at: context.at, ...(output ? { output } : {}) };
      const messages = new Map(state.messages).set(messageId, { digest: digestOf(content), sequence: event.sequence });
      return { ...state, queue: [...state.queue, queued], messages };
    }
    case 'message.discarded':
      return withoutMessage(state, event.data.messageId);
    case 'session.closed':
      return { ...state, status: 'closed' };
    case 'tools.listed': {
      const byName = new Map(event.data.tools.map((tool) => [tool.name, tool]));
      const listed = { ...state, tools: { digest: event.data.digest, byName } };
      return state.turn ? inTurn(listed, event, (turn) => ({ ...turn, listed: true })) : listed;
    }
    case 'turn.start':
      return startTurn(state, event, context);
    case 'turn.end':
      return endTurn(state);
    case 'turn.cancelling': {
      const { reason, closes } = event.data;
      const cancelling = { reason, at: context.at, ...(closes === undefined ? {} : { closes }) };
      return inTurn(state, event, (turn) => ({ ...turn, cancelling }));
    }
    case 'turn.error': {
      const { step, error } = event.data;
      return inTurn(state, event, (turn) => ({ ...turn, failure: { step, code: error.code, message: error.message } }));
    }
    case 'user.message': {
      const output = state.queue.find((message) => message.messageId === event.data.messageId)?.output;
      const next = withoutMessage(state, event.data.messageId);
      return inTurn(next, event, (turn) => ({ ...turn, allowed: turn.allowed + 1, ...(output ? { output } : {}) }));
    }
    case 'prompt.blocked':
      return inTurn(withoutMessage(state, event.data.messageId), event, (turn) => ({
        ...turn,
        lastBlock: event.data.reason,
      }));
    case 'steering.message':
      return inTurn(withoutMessage(state, event.data.messageId), event, (turn) => ({ ...turn, steered: true }));
    case 'context.message':
      return withoutMessage(state, event.data.messageId);
    case 'step.start': {
      const step: StepState = { step: event.data.step, sequence: event.sequence, at: context.at };
      const phase = { at: 'step' as const, step };
      return inTurn(state, event, (turn) => ({ ...turn, steps: turn.steps + 1, listed: true, steered: false, phase }));
    }
    case 'step.end':
      return inTurn(state, event, (turn) => {
        const answer = turn.phase.at === 'step' ? turn.phase.step.answer : undefined;
        const wantsMore = (answer?.calls.length ?? 0) > 0 || turn.steered;
        return { ...turn, phase: { at: 'after-step', goesOn: wantsMore && answer?.finishReason !== 'aborted' } };
      });
    case 'assistant.message':
      return answered(state, event);
    case 'tool.call': {
      const { n, decision, effective } = event.data;
      const decided = { decision, effective, sequence: event.sequence, at: context.at };
      const next = inCall(state, event, n, (call) => ({ ...call, decided }));
      return inTurn(next, event, (turn) => ({ ...turn, calls: turn.calls + 1 }));
    }
    case 'tool.result':
      return inCall(state, event, event.data.n, (call) => ({
        ...call,
        settled: { context: event.data.context ?? [] },
      }));
    case 'approval.requested': {
      const { approvalId, callId, expiresAt } = event.data;
      const approvals = new Map(state.approvals).set(approvalId, { sequence: event.sequence });
      const n = openCalls(state).find(
        (call) => call.callId === callId && call.decided?.decision === 'ask' && !call.approval,
      )?.n;
      return inCall({ ...state, approvals }, event, n ?? -1, (call) => ({
        ...call,
        approval: { approvalId, expiresAt },
      }));
    }
    case 'approval.decided': {
      const { approvalId, outcome } = event.data;
      const approvals = new Map(state.approvals).set(approvalId, { outcome, sequence: event.sequence });
      const call = openCalls(state).find(({ approval }) => approval?.approvalId === approvalId);
      if (!call?.approval) throw new BrokenLogError(event, `no open call waits for approval ${approvalId}`);
      const approval = { ...call.approval, outcome, decidedAt: context.at };
      return inCall({ ...state, approvals }, event, call.n, (waiting) => ({ ...waiting, approval }));
    }
    case 'work.deferred': {
      const { what, attempt, until, attempts } = event.data;
      return inTurn(state, event, (turn) => ({
        ...turn,
        deferrals: [...turn.deferrals, { what, step: workStep(turn), attempt, until, attempts }],
      }));
    }
    case 'session.created':
      throw new BrokenLogError(event, 'the session exists already');
    case 'session.resumed':
    case 'session.mode':
    case 'policy.decided':
    case 'compaction.start':
    case 'compaction.summary':
    case 'compaction.end':
    case 'hook.result':
    case 'harness.raw':
      return state;
  }
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
    deferrals: [],
    sawMaxTokens: false,
    sawRefusal: false,
  };
  return { ...state, turns: turn.turn, turn, causations: { current: new Set(), previous: state.causations.current } };
}

/** Messages of the turn that have no disposition stay queued: the next turn takes them. */
function endTurn(state: SessionState): SessionState {
  const { turn, ...rest } = state;
  const keepsSteering = turn !== undefined && turn.cancelling === undefined;
  const queue = keepsSteering
    ? state.queue.map((message) => (message.lane === 'step' ? { ...message, lane: 'turn' as const } : message))
    : state.queue;
  return { ...rest, queue };
}

function answered(state: SessionState, event: RecordedEvent & EventOf<'assistant.message'>): SessionState {
  const { content, finishReason, usage, cost } = event.data;
  const blocks: readonly ContentBlock[] = content;
  const calls = blocks
    .flatMap((block) => (block.type === 'tool-call' ? [block] : []))
    .map((block, n): CallState => {
      const facts = state.tools?.byName.get(block.name);
      return {
        n,
        callId: block.id,
        name: block.name,
        arguments: block.arguments,
        parsed: parseArguments(block.arguments),
        ...(facts ? { facts } : {}),
      };
    });
  const tokens = usage ? usage.input + usage.cacheRead + usage.cacheWrite + usage.output : 0;
  const used = {
    tokens: state.used.tokens + tokens,
    cost: cost === null || state.used.cost === null ? null : state.used.cost + cost,
  };
  return inTurn({ ...state, used }, event, (turn) => {
    if (turn.phase.at !== 'step') throw new BrokenLogError(event, 'no step is open');
    return {
      ...turn,
      phase: { at: 'step', step: { ...turn.phase.step, answer: { finishReason, calls } } },
      sawMaxTokens: turn.sawMaxTokens || finishReason === 'max-tokens',
      sawRefusal: turn.sawRefusal || finishReason === 'content-filter',
    };
  });
}

function inTurn(state: SessionState, event: RecordedEvent, change: (turn: TurnState) => TurnState): SessionState {
  if (!state.turn) throw new BrokenLogError(event, 'no turn is open');
  return { ...state, turn: change(state.turn) };
}

function inCall(
  state: SessionState,
  event: RecordedEvent,
  n: number,
  change: (call: CallState) => CallState,
): SessionState {
  return inTurn(state, event, (turn) => {
    const answer = turn.phase.at === 'step' ? turn.phase.step.answer : undefined;
    if (turn.phase.at !== 'step' || !answer?.calls[n])
      throw new BrokenLogError(event, `the open step has no call ${n}`);
    const calls = answer.calls.map((call) => (call.n === n ? change(call) : call));
    return { ...turn, phase: { at: 'step', step: { ...turn.phase.step, answer: { ...answer, calls } } } };
  });
}

function withoutMessage(state: SessionState, messageId: string | undefined): SessionState {
  if (messageId === undefined) return state;
  const queue = state.queue.filter((message) => message.messageId !== messageId);
  const { turn } = state;
  if (turn?.phase.at !== 'prompts') return { ...state, queue };
  const pending = turn.phase.pending.filter((id) => id !== messageId);
  const phase = pending.length > 0 ? { at: 'prompts' as const, pending } : { at: 'between-steps' as const };
  return { ...state, queue, turn: { ...turn, phase } };
}
