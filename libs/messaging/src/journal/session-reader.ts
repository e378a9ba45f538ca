import type { RecordedEvent, UnknownEvent } from '@jetloop/contracts';
import type { Bus } from '../connection/bus.js';
import { isTurnOver } from '../live/turn-watch.js';
import { SessionView } from './session-view.js';

type AnyEvent = RecordedEvent | UnknownEvent;

/** Whole session logs, for workers that need the conversation. */
export class SessionReader extends SessionView<AnyEvent[]> {
  /** @param maxBytes as of {@link SessionView} */
  constructor(bus: Bus, maxBytes?: number) {
    super(bus, { initial: () => [], apply: (events, event) => void events.push(event), keepsEvents: true }, maxBytes);
  }

  /** Whether the journal says by now that the turn is cancelling or ended. */
  async isTurnOver(tenant: string, session: string, turn: number): Promise<boolean> {
    return isTurnOver(await this.readAll(tenant, session), turn);
  }
}
