import { isKnownEvent, type TurnEnd } from '@jetloop/contracts';
import type { SessionEntry } from './session-entry.js';

/** How the turn that took a message ended. */
export interface TurnOutcome {
  /** Undefined when the message was discarded before any turn took it. */
  readonly turn: number | undefined;
  readonly reason: TurnEnd;
}

/** Follows one message through the log of its session. */
export class TurnOfMessage {
  private turn: number | undefined;

  constructor(private readonly messageId: string) {}

  /** Takes the next event; gives the outcome once the message's turn has ended, or the message was discarded. */
  see({ event }: SessionEntry): TurnOutcome | undefined {
    if (!isKnownEvent(event)) return undefined;
    if (event.type === 'turn.start' && event.data.messageIds.includes(this.messageId)) this.turn = event.data.turn;
    // Steering and injections join a turn that is open already.
    if (
      (event.type === 'steering.message' || event.type === 'context.message') &&
      event.data.messageId === this.messageId
    )
      this.turn = event.data.turn;
    if (event.type === 'turn.end' && event.data.turn === this.turn)
      return { turn: event.data.turn, reason: event.data.reason };
    if (event.type === 'message.discarded' && event.data.messageId === this.messageId)
      return {
        turn: undefined,
        reason: event.data.reason === 'closed' ? { kind: 'closed' } : { kind: 'aborted', reason: 'cancelled' },
      };
    return undefined;
  }
}
