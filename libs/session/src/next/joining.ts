import type { InputBlock, SessionEvent } from '@jetloop/contracts';
import type { QueuedMessage, SessionState, TurnState } from '../state.js';

/** Messages that join an open turn at its next boundary, in the order in which they came. */
export function joining(state: SessionState): readonly QueuedMessage[] {
  return state.queue.filter((message) => message.lane !== 'turn');
}

/** A message that passed, as what it is: a prompt, steering, or injected context. */
export function joined(
  turn: TurnState,
  message: QueuedMessage,
  content: readonly InputBlock[] = message.content,
): SessionEvent {
  const data = { turn: turn.turn, messageId: message.messageId, content: [...content], source: message.source };
  switch (message.lane) {
    case 'turn':
      return { type: 'user.message', data };
    case 'step':
      return { type: 'steering.message', data };
    case 'inject':
      return { type: 'context.message', data };
  }
}
