import { LostRaceError, type EventsStream, type JournalFollower } from '@jetloop/messaging';
import { Backoff, pauseFor } from '../backoff.js';
import { ProjectorStoppedError } from '../projector/projector-stopped-error.js';
import { chunks } from './chunks.js';
import { isAfter, JOURNAL_START, unfold, type JournalPlace, type PublicEvent } from './unfold.js';

/** Commits unfolded at a time. */
const MAX_BATCH = 500;
/** Another unfolder is at work: it is left alone for this long, and up to twice this long. */
const YIELD_MS = 250;

export type EventsSink = Pick<EventsStream, 'last' | 'publish'>;
export type UnfolderSource = Pick<JournalFollower, 'follow' | 'bounds'>;

export type UnfolderState =
  | { readonly status: 'starting' }
  | { readonly status: 'unfolding' }
  /** NATS is away, or EVENTS is full: it tries again. */
  | { readonly status: 'waiting'; readonly error: Error }
  | { readonly status: 'stopped'; readonly error: ProjectorStoppedError }
  | { readonly status: 'ended' };

/** Where the public stream stands. */
interface Place {
  readonly sequence: number;
  readonly journal: JournalPlace;
}

/**
 * Unfolds the journal into the public stream, exactly once and in order (spec 1.5). Any number may run, without a lock:
 * the last message of the stream says where to go on, and a publish that does not follow it is refused.
 */
export class Unfolder {
  private current: UnfolderState = { status: 'starting' };
  private readonly backoff = new Backoff();

  constructor(
    private readonly journal: UnfolderSource,
    private readonly stream: EventsSink,
    private readonly changed: (state: UnfolderState) => void,
  ) {}

  get state(): UnfolderState {
    return this.current;
  }

  /** Runs until the signal aborts, or until it must stop for good. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.follow(signal);
      } catch (error) {
        if (error instanceof ProjectorStoppedError) {
          this.become({ status: 'stopped', error });
          return;
        }
        this.become({ status: 'waiting', error: error instanceof Error ? error : new Error(String(error)) });
        await this.backoff.pause(signal);
      }
    }
    this.become({ status: 'ended' });
  }

  private async follow(signal: AbortSignal): Promise<void> {
    let place = await this.place();
    const { last } = await this.journal.bounds();
    if (last < place.journal.streamSequence) throw journalOlder(last, place.journal.streamSequence);
    this.become({ status: 'unfolding' });
    // The commit that was unfolded last comes again: some of its events may be missing.
    const from = Math.max(0, place.journal.streamSequence - 1);
    for await (const entries of this.journal.follow(from, { maxBatch: MAX_BATCH, signal })) {
      place = await this.publish([...unfold(entries)], place, signal);
      this.backoff.reset();
      if (signal.aborted) return;
    }
  }

  /** Publishes what the stream lacks of these events. */
  private async publish(events: readonly PublicEvent[], from: Place, signal: AbortSignal): Promise<Place> {
    let place = from;
    while (!signal.aborted) {
      try {
        const { journal } = place;
        for (const chunk of chunks(events.filter((event) => isAfter(event.place, journal)))) {
          const sequence = await this.stream.publish(chunk, place.sequence);
          place = { sequence, journal: chunk.at(-1)?.place ?? place.journal };
        }
        return place;
      } catch (error) {
        if (!(error instanceof LostRaceError)) throw error;
        await pauseFor(YIELD_MS * (1 + Math.random()), signal);
        place = await this.place();
      }
    }
    return place;
  }

  private async place(): Promise<Place> {
    const { sequence, journal } = await this.stream.last();
    if (sequence > 0 && journal === undefined) throw positionLost(sequence);
    return { sequence, journal: journal ?? JOURNAL_START };
  }

  private become(state: UnfolderState): void {
    this.current = state;
    this.changed(state);
  }
}

function journalOlder(last: number, unfolded: number): ProjectorStoppedError {
  return new ProjectorStoppedError(
    'journal_older',
    `The journal ends at ${last}, and the public stream was unfolded up to ${unfolded}`,
    'Bring back the newer journal and start again, or delete the stream EVENTS and start again: it is made anew from this journal',
  );
}

function positionLost(sequence: number): ProjectorStoppedError {
  return new ProjectorStoppedError(
    'position_lost',
    `The last message of EVENTS (${sequence}) is gone or does not say which event of the journal it holds`,
    'Delete the stream EVENTS and start again: it is made anew from the journal',
  );
}
