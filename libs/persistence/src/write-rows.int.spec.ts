import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServers, type TestServers } from '@jetloop/testing';
import type { Kysely } from 'kysely';
import { byteaText, createKysely, isDataError, readRows, writeRows, type Database, type WrittenRow } from './index.js';

const time = '2026-11-30T01:02:03.456789+00:00';
const row = (seq: number, data: unknown): WrittenRow<'events'> => ({
  tenant: 'acme',
  session_id: 's1',
  seq,
  type: 'note',
  version: 1,
  time,
  causation_id: 'c',
  correlation_id: null,
  actor: 'O\'Hara \\ "x" 😀\n',
  data,
  raw: byteaText(Buffer.from([0, 255, 10])),
  stream_seq: 1,
  hash: byteaText(Buffer.alloc(32, 7)),
  sanitized: false,
});

describe('writeRows and readRows', () => {
  let servers: TestServers;
  let db: Kysely<Database>;
  beforeAll(async () => {
    servers = await testServers();
    db = createKysely(servers.databaseUrl);
  });
  afterAll(async () => {
    await db.destroy();
    await servers.stop();
  });

  it('give back what was written, all digits of times, bytes and JSON too', async () => {
    const rows = [
      row(1, { a: ['\\u0000', '😀', 1e21, 0.1, null] }),
      row(2, 'text'),
      row(3, null),
      row(4, []),
      row(5, 'null'),
    ];
    await writeRows(db, 'events', rows);
    const keys = [1, 2, 3, 4, 5, 99].map((seq) => ({ tenant: 'acme', session_id: 's1', seq }));
    const read = await readRows(db, 'events', keys);
    expect(read.sort((a, b) => a.seq - b.seq)).toEqual(rows);
    expect(await readRows(db, 'events', [])).toEqual([]);
  });

  it('give back texts that the text of an array gives a meaning to', async () => {
    const texts = ['', 'null', 'a,b', '{x}', ' space ', '"\\"', "it's", '\n'];
    const rows = texts.map((actor, index) => ({ ...row(100 + index, actor), actor }));
    await writeRows(db, 'events', rows);
    const read = await readRows(
      db,
      'events',
      texts.map((actor) => ({ actor })),
    );
    expect(read.sort((a, b) => a.seq - b.seq)).toEqual(rows);
  });

  it('replace rows by their key when asked to, and fail otherwise', async () => {
    await writeRows(db, 'events', [row(10, 'old')]);
    const error: unknown = await writeRows(db, 'events', [row(10, 'new')]).catch((reason: unknown) => reason);
    expect(isDataError(error)).toBe(true);
    await writeRows(db, 'events', [row(10, 'new')], { replaceBy: ['tenant', 'session_id', 'seq'] });
    expect(await readRows(db, 'events', [{ seq: 10 }])).toMatchObject([{ data: 'new' }]);
    await writeRows(db, 'events', []);
  });

  it('write more cells in one statement than a statement may have parameters', async () => {
    await writeRows(
      db,
      'events',
      Array.from({ length: 6_000 }, (_, i) => row(1_000 + i, i)),
    );
    const { n } = await db
      .selectFrom('events')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('seq', '>=', 1_000)
      .executeTakeFirstOrThrow();
    expect(n).toBe(6_000);
  });
});
