import { ApiError, type Bus } from '../connection/bus.js';
import { PublishRefusedError } from '../errors.js';

/** Where a public event comes from: its commit's stream sequence, and its index in the commit. */
export interface JournalPosition {
  readonly streamSequence: number;
  readonly index: number;
}

export interface PublicEvent {
  readonly subject: string;
  readonly body: Uint8Array;
  /** `<streamSequence>.<index>` */
  readonly journal: `${number}.${number}`;
}

/** Another unfolder was first: read the last position again and go on from there. */
export class LostRaceError extends Error {
  override readonly name = 'LostRaceError';
}

const HEADER = 'Jetloop-Journal';
const WRONG_LAST_SEQUENCES = [10071, 10164, 10163];
const NO_MESSAGE = 10037;

/** The public stream EVENTS, written exactly once and in order without a lock (spec 1.5). */
export class EventsStream {
  constructor(private readonly bus: Bus) {}

  /** The last message: its sequence in EVENTS, and the journal position that it unfolds. */
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
      if (error instanceof ApiError && error.code === NO_MESSAGE) return { sequence: state.last_seq };
      throw error;
    }
  }

  /**
   * Publishes in order, all in flight together, each expecting the one before: they fail together behind the first that
   * fails. @returns the new last sequence. @throws LostRaceError
   */
  async publish(events: readonly PublicEvent[], expectedLast: number): Promise<number> {
    const acks = events.map(({ subject, body, journal }, index) =>
      this.bus.publisher.publish(subject, body, {
        [HEADER]: journal,
        'Nats-Expected-Last-Sequence': String(expectedLast + index),
      }),
    );
    const settled = await Promise.allSettled(acks);
    const failed = settled.find((result) => result.status === 'rejected');
    if (!failed) return expectedLast + events.length;
    const reason: unknown = failed.reason;
    if (reason instanceof PublishRefusedError && WRONG_LAST_SEQUENCES.includes(reason.code))
      throw new LostRaceError(reason.message);
    throw reason;
  }
}
