import { describe, expect, it } from '@jest/globals';
import { JournalScript, created, scriptedSession } from '../fixtures/journal-script.fixture.spec.js';
import { nextHash } from '../journal/hash-chain.js';
import { readBatch } from './read-batch.js';
import type { SessionHead } from './read-commit.js';

const none = new Map<string, SessionHead>();
const note = (data: unknown) => ({ type: 'note', data });

describe('readBatch', () => {
  it('chains the events of each session, wherever the batches are cut', () => {
    const { entries } = scriptedSession();
    const whole = readBatch(entries, none).events;
    let previous: Uint8Array | undefined;
    for (const { hash, raw } of whole) expect(hash).toEqual((previous = nextHash(previous, raw)));
    for (let cut = 1; cut < entries.length; cut += 1) {
      const before = readBatch(entries.slice(0, cut), none).events;
      const last = before.at(-1)!;
      const heads = new Map([['acme.s1', { sequence: last.event.sequence, hash: last.hash }]]);
      const after = readBatch(entries.slice(cut), heads).events;
      expect([...before, ...after]).toEqual(whole);
    }
  });

  it('keeps sessions apart', () => {
    const journal = new JournalScript();
    journal.commit([created]);
    journal.commit([created], { session: 's2' });
    journal.commit([note(1)]);
    const [first, other, second] = readBatch(journal.entries, none).events;
    expect(second!.hash).toEqual(nextHash(first!.hash, second!.raw));
    expect(other!.hash).toEqual(nextHash(undefined, other!.raw));
  });

  it('replaces what PostgreSQL cannot store and says so, with the bytes untouched', () => {
    const journal = new JournalScript();
    journal.commit([note({ 'a\u0000': '\ud800x', fine: '\\u0000' }), note('\\u0000 😀')]);
    const [dirty, fine] = readBatch(journal.entries, none).events;
    expect(dirty).toMatchObject({ sanitized: true, event: { data: { 'a\uFFFD': '\uFFFDx', fine: '\\u0000' } } });
    expect(Buffer.from(dirty!.raw).toString()).toContain('a\\u0000');
    expect(fine).toMatchObject({ sanitized: false, event: { data: '\\u0000 😀' } });
  });

  it('sets aside what does not fit, with the reason, and lets the others flow', () => {
    const journal = new JournalScript();
    journal.poison('no JSON');
    journal.commit([created]);
    journal.commit([note(1)], { subject: 'log.globex.s1', sequence: 1 });
    journal.commit([note(1)], { at: 'yesterday', sequence: 1 });
    journal.commit([note(1)], { sequence: 0 });
    journal.commit([{ ...note(1), sequence: 1 } as never, { ...note(1), sequence: 7 } as never]);
    journal.commit([note('good')], { sequence: 1 });
    const { events, quarantined, gaps } = readBatch(journal.entries, none);
    expect(quarantined.map(({ streamSequence, problem }) => `${streamSequence} ${problem}`)).toEqual([
      '1 no JSON',
      '3 it names acme/s1, but its subject is log.globex.s1',
      '4 its time "yesterday" is not RFC 3339',
      '5 it begins at sequence 0, and 0 was projected already',
      '6 event 1 has sequence 7: expected 2',
    ]);
    expect(events.map(({ streamSequence }) => streamSequence)).toEqual([2, 7]);
    expect(gaps).toEqual([]);
  });

  it('reports what the journal lacks of a session, and goes on with it', () => {
    const journal = new JournalScript();
    journal.commit([created]);
    journal.commit([note(1)], { sequence: 5 });
    const { events, gaps } = readBatch(journal.entries, none);
    expect(events).toHaveLength(2);
    expect(gaps).toEqual([{ session: 'acme.s1', expected: 1, found: 5 }]);
  });

  it('sets aside a commit that is nested too deep to be read', () => {
    const journal = new JournalScript();
    let deep: unknown = 'x\u0000';
    for (let depth = 0; depth < 20_000; depth += 1) deep = [deep];
    const entry = journal.commit([note(1)]);
    const event = { sequence: 0, version: 1, type: 'note', data: deep };
    const raw = `{"tenant":"acme","events":[{"data":${'['.repeat(20_000)}"x\\u0000"${']'.repeat(20_000)}}]}`;
    const commit = { ...('commit' in entry ? entry.commit : undefined!), events: [event] };
    const { quarantined, events } = readBatch([{ ...entry, raw: Buffer.from(raw), commit }], none);
    expect(quarantined).toHaveLength(1);
    expect(events).toEqual([]);
  });
});
