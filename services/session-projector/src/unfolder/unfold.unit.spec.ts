import { describe, expect, it } from '@jest/globals';
import { isEventType, toCloudEvents, type SessionEvent } from '@jetloop/contracts';
import { JournalScript, created, scriptedSession } from '../fixtures/journal-script.fixture.spec.js';
import { chunks } from './chunks.js';
import { eventSubject } from './event-subject.js';
import { unfold } from './unfold.js';

describe('unfold', () => {
  it('makes one public event of each event, in order, with its place', () => {
    const journal = scriptedSession();
    const events = [...unfold(journal.entries)];
    expect(events.slice(0, 4).map(({ subject, journal: place }) => [subject, place])).toEqual([
      ['evt.acme.s1.session.created', { streamSequence: 1, index: 0 }],
      ['evt.acme.s1.message.queued', { streamSequence: 2, index: 0 }],
      ['evt.acme.s1.turn.start', { streamSequence: 2, index: 1 }],
      ['evt.acme.s1.user.message', { streamSequence: 3, index: 0 }],
    ]);
    const bodies = events.map(({ body }): unknown => JSON.parse(Buffer.from(body).toString()));
    const expected = journal.entries.flatMap((entry) => ('commit' in entry ? toCloudEvents(entry.commit) : []));
    expect(bodies).toEqual(expected);
  });

  it('leaves out what is no commit, and what claims to be of another session', () => {
    const journal = new JournalScript();
    journal.poison('no JSON');
    journal.commit([created], { subject: 'log.globex.s1' });
    journal.commit([created]);
    expect([...unfold(journal.entries)].map(({ journal: place }) => place)).toEqual([{ streamSequence: 3, index: 0 }]);
  });

  it('needs at most 512 bytes more than the commit, which is what the journal keeps free', () => {
    const longest: SessionEvent = {
      type: 'compaction.summary',
      data: { turn: 1, summary: [{ type: 'text', text: '' }], replaced: { from: 0, to: 1 } },
    };
    expect(isEventType(longest.type)).toBe(true);
    const journal = new JournalScript();
    const id = 'x'.repeat(64);
    const entry = journal.commit([longest], { tenant: id, session: id, turn: 1 });
    const [event] = unfold([{ ...entry, streamSequence: 99_999_999_999 }]);
    const { streamSequence, index } = event!.journal;
    const headers = `NATS/1.0\r\nJetloop-Journal: ${streamSequence}.${index}\r\nNats-Expected-Last-Sequence: 99999999999\r\n\r\n`;
    expect(event!.body.length + headers.length - entry.raw.length).toBeLessThanOrEqual(512);
  });
});

describe('eventSubject', () => {
  it.each([
    ['turn.start', 'turn.start'],
    ['weather', 'weather'],
    ['', 'unknown._'],
    ['a..b', 'unknown.a__b'],
    ['tool.*', 'unknown.tool__'],
    ['tool.>', 'unknown.tool__'],
    ['tool call\r\nX: y', 'unknown.tool_call__X__y'],
    ['ä\u0000', 'unknown.__'],
  ])('writes the type %j as %s', (type, tokens) => {
    expect(eventSubject('acme', 's1', type)).toBe(`evt.acme.s1.${tokens}`);
  });

  it('cuts a type that is too long for a subject', () => {
    expect(eventSubject('acme', 's1', 'x'.repeat(1_000))).toBe(`evt.acme.s1.unknown.${'x'.repeat(200)}`);
  });
});

describe('chunks', () => {
  const event = (bytes: number) => ({
    subject: 's',
    body: new Uint8Array(bytes),
    journal: { streamSequence: 1, index: 0 },
  });

  it('holds at most 1,000 events and 4 MiB, and one event of any size', () => {
    const mebibyte = 1024 * 1024;
    const lengths = (sizes: number[]) => [...chunks(sizes.map(event))].map((chunk) => chunk.length);
    expect(lengths(Array.from({ length: 2_500 }, () => 10))).toEqual([1_000, 1_000, 500]);
    expect(lengths([3 * mebibyte, 2 * mebibyte, mebibyte, 9 * mebibyte, 1])).toEqual([1, 2, 1, 1]);
    expect(lengths([])).toEqual([]);
  });
});
