import type { CallerCommand, SessionEvent } from '@jetloop/contracts';
import type { SessionState } from '../state.js';
import type { DirectDecision } from './direct-decision.js';
import { accepted } from './outcomes.js';

/**
 * Affects the turn and the queued messages that began at or before `asOf` (all of them without one), and named messages:
 * one that has not come yet is refused when it comes. On an idle session it does nothing.
 */
export function cancel(state: SessionState, command: Extract<CallerCommand, { kind: 'cancel' }>): DirectDecision {
  const asOf = command.asOf === undefined ? Infinity : Date.parse(command.asOf);
  const named = new Set(command.messageIds ?? []);
  const { turn } = state;
  const inTurn = new Set(turn?.phase.at === 'prompts' ? turn.phase.pending : []);
  const queued = state.queue
    .filter((message) => !inTurn.has(message.messageId))
    .filter((message) => named.has(message.messageId) || Date.parse(message.at) <= asOf)
    .map(({ messageId }) => messageId);
  const toCome = [...named].filter((messageId) => !state.messages.has(messageId));
  const discarded = [...queued, ...toCome].map((messageId): SessionEvent => ({
    type: 'message.discarded',
    data: { messageId, reason: 'cancelled' },
  }));
  const reachesTurn = turn !== undefined && !turn.cancelling && Date.parse(turn.startedAt) <= asOf;
  const cancelling: SessionEvent[] = reachesTurn
    ? [{ type: 'turn.cancelling', data: { turn: turn.turn, reason: command.reason, by: command.actor } }]
    : [];
  const events = [...discarded, ...cancelling];
  return events.length > 0 ? { events, outcome: { status: 'accepted', sequence: state.nextSequence } } : accepted(null);
}
