import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServers, type TestServers } from '@jetloop/testing';
import { AuditQueryError, createKysely, runAuditQuery, writeRows } from '../index.js';

describe('runAuditQuery', () => {
  let servers: TestServers;
  const run = (sql: string, options = {}) => runAuditQuery(servers.databaseUrl, sql, options);
  const failure = async (sql: string, options = {}): Promise<AuditQueryError> => {
    const error: unknown = await run(sql, options).catch((reason: unknown) => reason);
    if (error instanceof AuditQueryError) return error;
    throw new Error(`expected an AuditQueryError, got ${String(error)}`);
  };

  beforeAll(async () => {
    servers = await testServers();
    const db = createKysely(servers.databaseUrl);
    await writeRows(db, 'position', [
      {
        projection: 'x',
        version: 1,
        stream_seq: 7,
        journal_created: 'then',
        updated_at: '2026-11-30T01:02:03.456789Z',
      },
    ]);
    await db.destroy();
  });
  afterAll(() => servers.stop());

  it('gives columns in order, columns of the same name too, and rows', async () => {
    expect(await run('select projection, stream_seq as n, 2 as n, updated_at from position')).toEqual({
      columns: ['projection', 'n', 'n', 'updated_at'],
      rows: [['x', 7, 2, '2026-11-30T01:02:03.456789Z']],
      truncated: false,
    });
  });

  it('loses no digit and gives plain JSON', async () => {
    const { rows } = await run(`select 9007199254740993::bigint, 0.10::numeric, 12345678901234567890.5::numeric,
      null, true, '{"a":[1]}'::jsonb, '\\x00ff'::bytea, date '2026-01-02', interval '90 minutes', sum(2::bigint)`);
    expect(rows).toEqual([
      [
        '9007199254740993',
        0.1,
        '12345678901234567890.5',
        null,
        true,
        { a: [1] },
        '\\x00ff',
        '2026-01-02',
        '01:30:00',
        2,
      ],
    ]);
  });

  it('knows the columns of no rows, and statements such as explain and show', async () => {
    expect(await run('select seq, type from events')).toEqual({ columns: ['seq', 'type'], rows: [], truncated: false });
    expect((await run('explain select 1')).rows.length).toBeGreaterThan(0);
    expect((await run('show timezone')).rows).toEqual([['UTC']]);
  });

  it('fetches no more than asked for', async () => {
    const result = await run('select generate_series(1, 1000000000) as g', { maxRows: 3 });
    expect(result).toEqual({ columns: ['g'], rows: [[1], [2], [3]], truncated: true });
    expect((await run('select g from generate_series(1, 3) g', { maxRows: 3 })).truncated).toBe(false);
  });

  it.each([
    'delete from position',
    'with gone as (delete from position returning 1) select * from gone',
    'drop table position',
    'explain analyze delete from position',
    'do $$ begin delete from jetloop.position; end $$',
    'commit; delete from position',
    'set transaction read write; delete from position',
    "select set_config('transaction_read_only', 'off', false)",
  ])('changes nothing: %s', async (sql) => {
    await failure(sql);
    expect((await run('select count(*) from position')).rows).toEqual([[1]]);
  });

  it('says what PostgreSQL said, where, and its hint', async () => {
    const error = await failure('select\n  stream_sek from position');
    expect(error).toMatchObject({ code: '42703', position: 10 });
    expect(error.hint).toContain('stream_seq');
    expect(error.message.split('\n')).toEqual([
      'column "stream_sek" does not exist',
      'line 2:   stream_sek from position',
      '          ^',
      `Hint: ${error.hint}`,
    ]);
  });

  it('ends a query that takes too long', async () => {
    const error = await failure('select pg_sleep(20)', { timeoutMs: 200 });
    expect(error.message).toMatch(/statement timeout/);
  });

  it('refuses a copy to the client, which is no table, and finds nothing in an empty query', async () => {
    const error = await failure('/* all */ copy position to stdout');
    expect(error.message).toMatch(/COPY cannot be shown as rows: write a SELECT/);
    expect(await run('')).toEqual({ columns: [], rows: [], truncated: false });
  });

  it('names a server that cannot be reached, without the password', async () => {
    const error: unknown = await runAuditQuery('postgres://u:secret@127.0.0.1:1/x', 'select 1').catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(AuditQueryError);
    expect(String(error)).toContain('127.0.0.1:1');
    expect(String(error)).not.toContain('secret');
  });
});
