import {
  LostRaceError,
  type EventsEnd,
  type EventsStream,
  type JournalFollower,
  type PublicEvent,
} from '@jetloop/messaging';
import { Backoff, pauseFor } from '../backoff.js';
import { ProjectorStoppedError } from '../projector-stopped-error.js';
import { runUntilStopped, type RunState } from '../run-until-stopped.js';
import { chunks } from './chunks.js';
import { EndKeeper } from './end-keeper.js';
import { isAfter, JOURNAL_START, unfold } from './unfold.js';

/** Commits unfolded at a time. */
const MAX_BATCH = 500;
/** Another unfolder is at work: after this long, and up to twice this long, it must have got on. */
const YIELD_MS = 250;

export type EventsSink = Pick<EventsStream, 'last' | 'publish' | 'remember'>;
export type UnfolderSource = Pick<JournalFollower, 'follow' | 'bounds'>;

export type UnfolderState = { readonly status: 'starting' } | { readonly status: 'unfolding' } | RunState;

/**
 * Unfolds the journal into the public stream, exactly once and in order (spec 1.5). Any number may run, without a lock:
 * the last message of the stream says where to go on, and a publish that does not follow it is refused.
 */
export class Unfolder {
  private current: UnfolderState = { status: 'starting' };
  private readonly backoff = new Backoff();
  private readonly keeper: EndKeeper;

  constructor(
    private readonly journal: UnfolderSource,
    private readonly stream: EventsSink,
    private readonly changed: (state: UnfolderState) => void,
  ) {
    this.keeper = new EndKeeper(stream);
  }

  get state(): UnfolderState {
    return this.current;
  }

  /** Runs until the signal aborts, or until it must stop for good. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const become = (state: UnfolderState) => {
      this.become(state);
    };
    await runUntilStopped(() => this.follow(signal), { signal, backoff: this.backoff, become });
    await this.keeper.flush();
  }

  /** Unfolds until the signal aborts, or until the stream no longer ends where it was left. */
  private async follow(signal: AbortSignal): Promise<void> {
    let place = await this.place();
    const { last } = await this.journal.bounds();
    if (last < place.journal.streamSequence) throw journalOlder(last, place.journal.streamSequence);
    this.become({ status: 'unfolding' });
    // The commit that was unfolded last comes again: some of its events may be missing.
    const from = Math.max(0, place.journal.streamSequence - 1);
    try {
      for await (const entries of this.journal.follow(from, { maxBatch: MAX_BATCH, signal })) {
        place = await this.publish([...unfold(entries)], place);
        this.keeper.note(place);
        this.backoff.reset();
        if (signal.aborted) return;
      }
    } catch (error) {
      if (!(error instanceof LostRaceError)) throw error;
      await this.standBy(signal);
    }
  }

  /** Publishes what the stream lacks of these events. */
  private async publish(events: readonly PublicEvent[], { sequence, journal }: EventsEnd): Promise<EventsEnd> {
    let place = { sequence, journal };
    for (const chunk of chunks(events.filter((event) => isAfter(event.journal, journal)))) {
      const last = await this.stream.publish(chunk, place.sequence);
      place = { sequence: last, journal: chunk.at(-1)?.journal ?? place.journal };
    }
    return place;
  }

  /** Leaves the stream to the other unfolder for as long as that one gets on. */
  private async standBy(signal: AbortSignal): Promise<void> {
    for (let seen = -1; !signal.aborted;) {
      await pauseFor(YIELD_MS * (1 + Math.random()), signal);
      const { sequence } = await this.stream.last();
      if (sequence === seen) return;
      seen = sequence;
    }
  }

  private async place(): Promise<EventsEnd> {
    const { sequence, journal } = await this.stream.last();
    if (sequence > 0 && journal === undefined) throw positionLost(sequence);
    return { sequence, journal: journal ?? JOURNAL_START };
  }

  private become(state: UnfolderState): void {
    const isSame = state.status === 'unfolding' && this.current.status === 'unfolding';
    this.current = state;
    if (!isSame) this.changed(state);
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
    `The last message of EVENTS (${sequence}) is gone or does not say which event of the journal it holds, and POSITIONS does not say it either`,
    'Delete the stream EVENTS and start again: it is made anew from the journal',
  );
}
