import { isKnownEvent, type Commit, type EventOf, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import type { SessionState } from '../state.js';
import { applyCall } from './apply-call.js';
import { applyDecision } from './apply-decision.js';
import { applyMessage } from './apply-message.js';
import { applyTurn } from './apply-turn.js';
import { BrokenLogError } from './broken-log.error.js';
import { grown } from './conversation-size.js';
import type { EventContext } from './event-context.js';
import { inTurn } from './in-turn.js';
import { nothingUsed } from './used.js';
import { applyHarness } from '../harness/apply-harness.js';

/** Folds a commit into the state. @throws BrokenLogError */
export function applyCommit(state: SessionState | undefined, commit: Commit): SessionState {
  let next = state;
  for (const event of commit.events) next = evolve(next, event, commit);
  if (next === undefined) throw new BrokenLogError({ sequence: 0, type: 'commit' }, 'it holds no event');
  const current = new Map(next.causations.current).set(commit.causation, commit.events[0]?.sequence ?? 0);
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
  if (!isKnownEvent(event)) return { ...state, nextSequence: event.sequence + 1 };
  const next = applyHarness(state, event) ?? apply(state, event, context);
  return { ...next, conversation: grown(next.conversation, event), nextSequence: event.sequence + 1 };
}

function created(event: RecordedEvent & EventOf<'session.created'>, context: EventContext): SessionState {
  const { agent, workspace, parent, source, asks } = event.data;
  return {
    tenant: context.tenant,
    session: context.session,
    status: 'open',
    agent,
    workspace,
    ...(parent?.callId === undefined ? {} : { parent: { session: parent.session, callId: parent.callId } }),
    ...(asks ? { start: { source, sequence: 0, at: context.at } } : {}),
    createdBy: context.causation,
    nextSequence: 1,
    turns: 0,
    givenUp: [],
    deferrals: [],
    conversation: grown({ characters: 0, cuts: [] }, event),
    queue: [],
    messages: new Map(),
    approvals: new Map(),
    used: nothingUsed,
    causations: { current: new Map(), previous: new Map() },
  };
}

function apply(state: SessionState, event: RecordedEvent, context: EventContext): SessionState {
  switch (event.type) {
    case 'session.created':
      throw new BrokenLogError(event, 'the session exists already');
    case 'session.resumed': {
      const start = { source: 'resume' as const, sequence: event.sequence, at: context.at };
      return event.data.asks ? { ...state, start } : state;
    }
    case 'session.mode':
      return { ...state, mode: event.data.mode };
    case 'session.closed': {
      const { start: _start, ...rest } = state;
      return { ...rest, status: 'closed' };
    }
    case 'tools.listed': {
      const byName = new Map(event.data.tools.map((tool) => [tool.name, tool]));
      const listed = { ...state, tools: { digest: event.data.digest, byName } };
      return state.turn ? inTurn(listed, event, (turn) => ({ ...turn, listed: true })) : listed;
    }
    case 'message.queued':
    case 'message.discarded':
    case 'user.message':
    case 'prompt.blocked':
    case 'steering.message':
    case 'context.message':
      return applyMessage(state, event, context);
    case 'turn.start':
    case 'turn.end':
    case 'turn.cancelling':
    case 'turn.error':
    case 'step.start':
    case 'step.end':
    case 'work.deferred':
    case 'compaction.start':
    case 'compaction.summary':
    case 'compaction.end':
      return applyTurn(state, event, context);
    case 'assistant.message':
    case 'tool.call':
    case 'tool.result':
    case 'approval.requested':
    case 'approval.decided':
      return applyCall(state, event, context);
    case 'policy.decided':
      return applyDecision(state, event, context);
    case 'hook.result':
    case 'harness.raw':
      return state;
  }
}
