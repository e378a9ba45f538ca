import { describe, expect, it } from '@jest/globals';
import { LostRaceError, type EventsEnd, type JournalPosition, type PublicEvent } from '@jetloop/messaging';
import { JournalScript, created, scriptedSession } from '../fixtures/journal-script.fixture.spec.js';
import { unfold } from './unfold.js';
import { Unfolder, type EventsSink, type UnfolderState } from './unfolder.js';

/** The public stream in memory, with the check that the real one makes. */
class MemoryEvents implements EventsSink {
  readonly stored: string[] = [];
  /** Called before each message is stored. */
  beforeStore: (journal: string) => void = () => undefined;

  async last() {
    await Promise.resolve();
    const last = this.stored.at(-1);
    if (last === undefined) return { sequence: 0 };
    const [streamSequence = 0, index = 0] = last.split('.').map(Number);
    return { sequence: this.stored.length, journal: { streamSequence, index } };
  }

  readonly remembered: number[] = [];

  remember({ sequence }: EventsEnd): Promise<void> {
    this.remembered.push(sequence);
    return Promise.resolve();
  }

  async publish(events: readonly PublicEvent[], expectedLast: number): Promise<number> {
    for (const [offset, event] of events.entries()) {
      await Promise.resolve();
      const journal = textOf(event.journal);
      this.beforeStore(journal);
      if (this.stored.length !== expectedLast + offset) throw new LostRaceError('wrong last sequence');
      this.stored.push(journal);
    }
    return this.stored.length;
  }
}

const textOf = ({ streamSequence, index }: JournalPosition): string => `${streamSequence}.${index}`;
const placesOf = (journal: JournalScript): string[] =>
  [...unfold(journal.entries)].map((event) => textOf(event.journal));

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !isTrue(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(isTrue()).toBe(true);
}

function start(journal: JournalScript, events: EventsSink) {
  const ending = new AbortController();
  const states: UnfolderState[] = [];
  const unfolder = new Unfolder(journal, events, (state) => states.push(state));
  const running = unfolder.run(ending.signal);
  const stop = async () => {
    ending.abort();
    await running;
  };
  return { unfolder, states, running, stop };
}

describe('Unfolder', () => {
  it('unfolds what is there and what comes later', async () => {
    const journal = scriptedSession();
    const events = new MemoryEvents();
    const { stop } = start(journal, events);
    await until(() => events.stored.length === 23);
    journal.commit([{ type: 'note', data: 1 }]);
    await until(() => events.stored.length === 24);
    await stop();
    expect(events.stored).toEqual(placesOf(journal));
    expect(events.remembered.at(-1)).toBe(24);
  });

  it('goes on with a stream that age has emptied', async () => {
    const journal = scriptedSession();
    const events = new MemoryEvents();
    const first = start(journal, events);
    await until(() => events.stored.length === 23);
    await first.stop();
    const [end] = [await events.last()];
    const emptied = new MemoryEvents();
    emptied.stored.push(...events.stored);
    emptied.last = () => Promise.resolve(end);
    journal.commit([{ type: 'note', data: 1 }]);
    const second = start(journal, emptied);
    await until(() => emptied.stored.length === 24);
    await second.stop();
    expect(emptied.stored).toEqual(placesOf(journal));
  });

  it('goes on from every place where it may have stopped, with no event twice and none missing', async () => {
    const journal = scriptedSession();
    const places = placesOf(journal);
    for (let cut = 0; cut <= places.length; cut += 1) {
      const events = new MemoryEvents();
      events.stored.push(...places.slice(0, cut));
      journal.commit([{ type: 'note', data: cut }]);
      const { stop } = start(journal, events);
      await until(() => events.stored.length === placesOf(journal).length);
      await stop();
      expect(events.stored).toEqual(placesOf(journal));
    }
  });

  it('publishes each event once when two work at the same time', async () => {
    const journal = new JournalScript();
    for (let i = 0; i < 40; i += 1) journal.commit([created, created, created], { session: `s${i}` });
    const events = new MemoryEvents();
    const both = [start(journal, events), start(journal, events)];
    await until(() => events.stored.length === 120);
    for (const { stop } of both) await stop();
    expect(events.stored).toEqual(placesOf(journal));
  });

  it('finds out that another one went on while it was frozen, and takes over from there', async () => {
    const journal = scriptedSession();
    const events = new MemoryEvents();
    const places = placesOf(journal);
    events.beforeStore = (place) => {
      // While this publish was under way, another unfolder stored it and the next nine.
      if (place === '3.0' && events.stored.length === 3) events.stored.push(...places.slice(3, 13));
    };
    const { stop, states } = start(journal, events);
    await until(() => events.stored.length === places.length);
    await stop();
    expect(events.stored).toEqual(places);
    expect(states.map(({ status }) => status)).toEqual(['unfolding', 'ended']);
  });

  it('goes on from where the stream ends when a crash of the server took its last messages', async () => {
    const journal = scriptedSession();
    const events = new MemoryEvents();
    const { stop, states } = start(journal, events);
    await until(() => events.stored.length === 23);
    events.stored.length = 10;
    journal.commit([{ type: 'note', data: 1 }]);
    await until(() => events.stored.length === 24);
    await stop();
    expect(events.stored).toEqual(placesOf(journal));
    expect(states.map(({ status }) => status)).toEqual(['unfolding', 'ended']);
  });

  it('tries again when the stream is full or away', async () => {
    const journal = scriptedSession();
    const events = new MemoryEvents();
    let isFull = true;
    events.beforeStore = (place) => {
      if (place !== '4.0' || !isFull) return;
      isFull = false;
      throw new Error('maximum bytes exceeded');
    };
    const { stop, states } = start(journal, events);
    await until(() => events.stored.length === 23);
    await stop();
    expect(events.stored).toEqual(placesOf(journal));
    expect(states.map(({ status }) => status)).toEqual(['unfolding', 'waiting', 'unfolding', 'ended']);
  });

  it('stops when the journal ends before what was unfolded', async () => {
    const events = new MemoryEvents();
    events.stored.push('7.0');
    const { running, unfolder } = start(new JournalScript(), events);
    await running;
    expect(unfolder.state).toMatchObject({ status: 'stopped', error: { code: 'journal_older' } });
  });

  it('stops rather than to guess where to go on', async () => {
    const events = new MemoryEvents();
    events.last = () => Promise.resolve({ sequence: 5 });
    const { running, unfolder } = start(scriptedSession(), events);
    await running;
    expect(unfolder.state).toMatchObject({ status: 'stopped', error: { code: 'position_lost' } });
    expect(events.stored).toEqual([]);
  });
});
