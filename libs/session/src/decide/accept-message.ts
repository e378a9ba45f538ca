import type { CallerCommand, Outcome, SessionEvent } from '@jetloop/contracts';
import { digestOf } from '../digest.js';
import type { SessionState } from '../state.js';
import type { DirectDecision } from './direct-decision.js';
import { accepted, refused } from './outcomes.js';

type Prompt = Extract<CallerCommand, { kind: 'prompt' }>;
type Lane = 'turn' | 'step' | 'inject';

/** What a message is accepted from. */
export type Message = Pick<Prompt, 'messageId' | 'content' | 'source'> & { readonly output?: Prompt['output'] };

/** Durable acceptance of a message, once: the same id with the same content gets the same answer. */
export function accept(state: SessionState, message: Message, lane: Lane, interrupts?: number): DirectDecision {
  const { messageId, content } = message;
  const known = state.messages.get(messageId);
  if (!known) {
    const outcome: Outcome = { status: 'accepted', sequence: state.nextSequence };
    return { events: [queued(message, lane, interrupts)], outcome };
  }
  if (known.cancelled)
    return refused('stale', `The message ${messageId} was cancelled before it came: send it anew under a new id.`);
  if (known.digest === digestOf(content)) return accepted(known.sequence);
  return refused(
    'conflict',
    `The message id ${messageId} was used before with other content: a new message needs a new id.`,
  );
}

/** The event that accepts a message. */
export function queued(message: Message, lane: Lane, interrupts?: number): SessionEvent {
  const { messageId, content, output } = message;
  const source = message.source ?? { kind: lane === 'inject' ? ('caller' as const) : ('user' as const) };
  return {
    type: 'message.queued',
    data: {
      messageId,
      lane,
      content,
      source,
      ...(interrupts === undefined ? {} : { interrupts }),
      ...(output ? { output } : {}),
    },
  };
}
