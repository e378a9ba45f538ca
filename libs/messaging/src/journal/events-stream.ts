import { ApiError, type Bus } from '../connection/bus.js';
import type { PubAck } from '../connection/publisher.js';
import { PublishRefusedError } from '../errors.js';
import type { EventsEnd, JournalPosition } from './events-end.js';
import { EventsPosition } from './events-position.js';

/** A message of EVENTS to be. */
export interface PublicEvent {
  readonly subject: string;
  readonly body: Uint8Array;
  readonly journal: JournalPosition;
}

/** The stream does not end where it was expected to: read its last position again and go on from there. */
export class LostRaceError extends Error {
  override readonly name = 'LostRaceError';
}

const HEADER = 'Jetloop-Journal';
const WRONG_LAST_SEQUENCES = [10071, 10164, 10163];
const NO_MESSAGE = 10037;

/** The public stream EVENTS, written exactly once and in order without a lock (spec 1.5). */
export class EventsStream {
  private readonly position: EventsPosition;

  constructor(private readonly bus: Bus) {
    this.position = new EventsPosition(bus);
  }

  /** Keeps where the stream ends, for the time when age has taken its last message. */
  remember(end: EventsEnd): Promise<void> {
    return this.position.write(end);
  }

  /**
   * The last message: its sequence in EVENTS (0: there never was one), and the journal position that it unfolds; without the
   * latter where neither the message nor POSITIONS says it.
   */
  async last(): Promise<{ sequence: number; journal?: JournalPosition }> {
    const { state } = await this.bus.api<{ state: { last_seq: number } }>('STREAM.INFO.EVENTS');
    if (state.last_seq === 0) return { sequence: 0 };
    try {
      const { message } = await this.bus.api<{ message: { hdrs?: string } }>('STREAM.MSG.GET.EVENTS', {
        seq: state.last_seq,
      });
      const header = Buffer.from(message.hdrs ?? '', 'base64').toString('utf8');
      const match = new RegExp(`${HEADER}: (\\d+)\\.(\\d+)`).exec(header);
      return match
        ? { sequence: state.last_seq, journal: { streamSequence: Number(match[1]), index: Number(match[2]) } }
        : { sequence: state.last_seq };
    } catch (error) {
      if (!(error instanceof ApiError && error.code === NO_MESSAGE)) throw error;
      const kept = await this.position.read();
      return kept?.sequence === state.last_seq ? kept : { sequence: state.last_seq };
    }
  }

  /**
   * Publishes in order, all in flight together, each expecting the one before: they fail together behind the first that
   * fails, so that the acknowledgement of the last one speaks for all. The first one is asked for too: it fails with the
   * reason where those behind it only say that the stream does not end where it should.
   * @returns the new last sequence
   * @throws LostRaceError
   */
  async publish(events: readonly PublicEvent[], expectedLast: number): Promise<number> {
    const { publisher } = this.bus;
    const acks: Promise<PubAck>[] = [];
    for (const [index, { subject, body, journal }] of events.entries()) {
      const headers = {
        [HEADER]: `${journal.streamSequence}.${journal.index}`,
        'Nats-Expected-Last-Sequence': String(expectedLast + index),
      };
      if (index === 0 || index === events.length - 1) acks.push(publisher.publish(subject, body, headers));
      else publisher.send(subject, body, headers);
    }
    const settled = await Promise.allSettled(acks);
    const failed = settled.find((result) => result.status === 'rejected');
    if (!failed) return expectedLast + events.length;
    const reason: unknown = failed.reason;
    if (reason instanceof PublishRefusedError && WRONG_LAST_SEQUENCES.includes(reason.code))
      throw new LostRaceError(reason.message);
    throw reason;
  }
}
