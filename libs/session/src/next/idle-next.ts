import type { SessionEvent } from '@jetloop/contracts';
import type { SessionState } from '../state.js';

/** An idle session begins a turn with what is queued; one that was made for a call of another ends when nothing is. */
export function idleNext(state: SessionState): SessionEvent[] {
  if (state.status !== 'open' || state.start) return [];
  const prompts = state.queue.filter((message) => message.lane === 'turn');
  const messages = prompts.length > 0 ? prompts : state.queue.filter((message) => message.lane === 'inject');
  const [first] = messages;
  if (!first) return state.parent ? [{ type: 'session.closed', data: { reason: 'finished' } }] : [];
  const trigger = { kind: prompts.length > 0 ? ('message' as const) : ('injection' as const), source: first.source };
  const messageIds = messages.map((message) => message.messageId);
  return [{ type: 'turn.start', data: { turn: state.turns + 1, trigger, messageIds } }];
}
