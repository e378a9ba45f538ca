import type { EventOf, RecordedEvent } from '@jetloop/contracts';
import { currentGroup } from '../tools/groups.js';
import { digestOf } from '../digest.js';
import type { SessionState } from '../state.js';
import type { EventContext } from './event-context.js';
import { inStep, inTurn, openCalls } from './in-turn.js';

type MessageEvent = RecordedEvent &
  EventOf<
    'message.queued' | 'message.discarded' | 'user.message' | 'prompt.blocked' | 'steering.message' | 'context.message'
  >;

/** Messages from their acceptance to their one disposition. */
export function applyMessage(state: SessionState, event: MessageEvent, context: EventContext): SessionState {
  switch (event.type) {
    case 'message.queued': {
      const { messageId, lane, content, source, output } = event.data;
      const queued = { messageId, lane, content, source, at: context.at, ...(output ? { output } : {}) };
      const messages = new Map(state.messages).set(messageId, { digest: digestOf(content), sequence: event.sequence });
      return { ...state, queue: [...state.queue, queued], messages };
    }
    case 'message.discarded': {
      const { messageId } = event.data;
      if (state.messages.has(messageId)) return withoutMessage(state, messageId);
      const cancelled = { digest: '', sequence: event.sequence, cancelled: true };
      return { ...state, messages: new Map(state.messages).set(messageId, cancelled) };
    }
    case 'user.message': {
      const output = state.queue.find((message) => message.messageId === event.data.messageId)?.output;
      const next = withoutMessage(state, event.data.messageId);
      return inTurn(next, event, (turn) => ({ ...turn, allowed: turn.allowed + 1, ...(output ? { output } : {}) }));
    }
    case 'prompt.blocked': {
      const { messageId, reason } = event.data;
      return inTurn(withoutMessage(state, messageId), event, (turn) => ({ ...turn, lastBlock: reason }));
    }
    case 'steering.message':
      return inTurn(withoutMessage(state, event.data.messageId), event, (turn) => ({ ...turn, steered: true }));
    case 'context.message':
      return heldBack(state, event)
        ? inStep(state, event, (step) => ({ ...step, contextsAdded: step.contextsAdded + 1 }))
        : withoutMessage(state, event.data.messageId);
  }
}

/** Context that a post-tool policy added: it joins once all calls of the step have their results. */
function heldBack(state: SessionState, event: RecordedEvent & EventOf<'context.message'>): boolean {
  const calls = openCalls(state);
  return event.data.messageId === undefined && calls.length > 0 && currentGroup(calls) === undefined;
}

function withoutMessage(state: SessionState, messageId: string | undefined): SessionState {
  if (messageId === undefined) return state;
  const queue = state.queue.filter((message) => message.messageId !== messageId);
  if (!state.turn) return { ...state, queue };
  const turn = { ...state.turn, disposed: state.turn.disposed + 1 };
  if (turn.phase.at !== 'prompts') return { ...state, queue, turn };
  const pending = turn.phase.pending.filter((id) => id !== messageId);
  const phase = pending.length > 0 ? { at: 'prompts' as const, pending } : { at: 'between-steps' as const };
  return { ...state, queue, turn: { ...turn, phase } };
}
