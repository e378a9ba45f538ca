import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createDatabasePool, createKysely, runAuditQuery, type DatabaseConnection } from '@jetloop/persistence';
import { testServers, type TestServers } from '@jetloop/testing';
import { createHash } from 'node:crypto';
import { JournalScript, created, scriptedSession, turnStart } from '../fixtures/journal-script.fixture.spec.js';
import { Projector, type JournalSource } from './projector.js';

const note = (data: unknown) => ({ type: 'note', data });

describe('Projector', () => {
  let servers: TestServers;
  let db: DatabaseConnection;
  let pool: ReturnType<typeof createDatabasePool>;
  const ends: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    servers = await testServers();
    db = createKysely(servers.databaseUrl);
    pool = createDatabasePool(servers.databaseUrl);
  });
  beforeEach(async () => {
    await pool.query(
      `truncate events, sessions, turns, messages, tool_calls, model_attempts, policy_decisions, quarantine, position`,
    );
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  afterAll(async () => {
    await db.destroy();
    await pool.end();
    await servers.stop();
  });

  function start(journal: JournalSource) {
    const ending = new AbortController();
    const statuses: string[] = [];
    const projector = new Projector({ databaseUrl: servers.databaseUrl, migrate: true }, journal, {
      changed: ({ status }) => {
        if (statuses.at(-1) !== status) statuses.push(status);
      },
      applied: () => undefined,
    });
    const running = projector.run(ending.signal);
    const end = async () => {
      ending.abort();
      await running;
    };
    ends.push(end);
    return { projector, statuses, running, end };
  }

  async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 1_000; tries += 1) {
      if (await isTrue()) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('it did not come about in 20 s');
  }

  const position = async () =>
    (await db.selectFrom('position').select('stream_seq').executeTakeFirst())?.stream_seq ?? 0;
  const projected = (journal: JournalScript) => until(async () => (await position()) === journal.entries.length);
  const query = async (text: string) => (await runAuditQuery(servers.databaseUrl, text)).rows;
  const terminateProjectors = () =>
    pool.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'session-projector'`);

  /** SQL holds the events of the journal in order, and every hash follows from the one before. */
  async function expectEqualToJournal(journal: JournalScript): Promise<void> {
    const rows = await db.selectFrom('events').selectAll().orderBy('stream_seq').orderBy('seq').execute();
    const expected = journal.entries.flatMap((entry) =>
      'commit' in entry
        ? entry.commit.events.map((event) => `${entry.subject} ${entry.streamSequence} ${JSON.stringify(event)}`)
        : [],
    );
    const found = rows.map(
      (row) => `log.${row.tenant}.${row.session_id} ${row.stream_seq} ${Buffer.from(row.raw).toString()}`,
    );
    expect(found).toEqual(expected);
    const hashes = new Map<string, Buffer>();
    for (const row of rows) {
      const session = `${row.tenant}.${row.session_id}`;
      const hash = createHash('sha256')
        .update(hashes.get(session) ?? '')
        .update(row.raw)
        .digest();
      expect(Buffer.from(row.hash).equals(hash)).toBe(true);
      hashes.set(session, hash);
    }
  }

  it('fills every table from a session', async () => {
    const journal = scriptedSession();
    start(journal);
    await projected(journal);
    await expectEqualToJournal(journal);
    expect(await query('select status, agent, turns, steps, cost, cost_complete, last_seq from sessions')).toEqual([
      ['running', 'helper', 3, 2, 0.1, false, 22],
    ]);
    expect(await query('select turn, end_reason, end_detail, steps, ended_at from turns order by turn')).toEqual([
      [1, 'completed', null, 2, '2026-11-30T12:00:08Z'],
      [2, 'rejected', 'destructive', 0, '2026-11-30T12:00:10Z'],
      [3, null, null, 0, null],
    ]);
    expect(await query('select role, text from messages order by seq')).toHaveLength(4);
    expect(await query(`select name, reason, effective ->> 'command' from tool_calls where decision = 'deny'`)).toEqual(
      [['shell', 'it deletes everything', 'rm -rf /']],
    );
    expect(await query('select target, outcome, error_code from model_attempts order by attempt_id')).toEqual([
      ['fast', 'error', 'overloaded'],
      ['big', 'ok', null],
      ['fast', 'ok', null],
    ]);
    expect(await query('select policy, reason from policy_decisions order by seq')).toEqual([
      ['no-rm', 'it deletes everything'],
      ['no-drops', 'destructive'],
    ]);
  });

  it('comes to the same rows one commit at a time, each by another process', async () => {
    const tables = ['sessions', 'turns', 'messages', 'tool_calls', 'model_attempts', 'policy_decisions', 'events'];
    const all = () => Promise.all(tables.map((table) => query(`select * from ${table} t order by t::text`)));
    const journal = scriptedSession();
    const first = start(journal);
    await projected(journal);
    await first.end();
    const atOnce = await all();
    await pool.query(
      `truncate events, sessions, turns, messages, tool_calls, model_attempts, policy_decisions, position`,
    );
    const growing = new JournalScript();
    for (const entry of journal.entries) {
      growing.entries.push(entry);
      const { end } = start(growing);
      await projected(growing);
      await end();
    }
    expect(await all()).toEqual(atOnce);
  });

  it('skips what comes again', async () => {
    const journal = scriptedSession();
    const again: JournalSource = {
      bounds: () => journal.bounds(),
      follow: (_from, options) => journal.follow(0, options),
    };
    for (let run = 0; run < 2; run += 1) {
      const { end } = start(again);
      await projected(journal);
      await end();
    }
    await expectEqualToJournal(journal);
  });

  it('stores what PostgreSQL cannot hold in another form, and flags it', async () => {
    const journal = new JournalScript();
    journal.commit([created, note({ 'k\u0000': 'a\u0000b \ud83d', emoji: '😀' }), note('\\u0000 is text')]);
    start(journal);
    await projected(journal);
    await expectEqualToJournal(journal);
    expect(await query('select sanitized, data from events where seq > 0 order by seq')).toEqual([
      [true, { 'k\uFFFD': 'a\uFFFDb \uFFFD', emoji: '😀' }],
      [false, '\\u0000 is text'],
    ]);
  });

  it('puts poison into quarantine, and the others flow', async () => {
    const journal = new JournalScript();
    for (let i = 0; i < 20; i += 1) journal.commit([created], { session: `s${i}` });
    journal.poison('no JSON\u0000');
    // PostgreSQL alone finds these two: no table has room for such a turn, and JSON numbers end somewhere.
    journal.commit([turnStart(3_000_000_000, [])], { session: 's3' });
    journal.commit([{ ...note(1), version: 3_000_000_000 }], { session: 's4' });
    for (let i = 0; i < 20; i += 1) journal.commit([note('good')], { session: `s${i}`, sequence: 1 });
    const { projector } = start(journal);
    await projected(journal);
    const rows = await query(
      `select stream_seq, problem, left(convert_from(raw, 'utf8'), 7) from quarantine order by stream_seq`,
    );
    expect(rows).toMatchObject([
      [21, 'no JSON\uFFFD', '{"not":'],
      [22, expect.stringContaining('3000000000'), '{"tenan'],
      [23, expect.stringContaining('3000000000'), '{"tenan'],
    ]);
    expect(await query(`select count(*) from events where type = 'note' and data = '"good"'`)).toEqual([[20]]);
    expect(projector.counts).toMatchObject({ events: 40, quarantined: 3, gaps: 0 });
  });

  it('leaves nothing of a batch that PostgreSQL refuses, whichever of its tables does', async () => {
    const journal = new JournalScript();
    // All rows are fine but those of `turns`: the tables beside it are written in the same breath.
    journal.commit([created, turnStart(3_000_000_000, []), note(1)]);
    start(journal);
    await projected(journal);
    const tables = ['events', 'sessions', 'turns', 'messages', 'tool_calls', 'model_attempts', 'policy_decisions'];
    for (const table of tables) expect(await query(`select count(*) from ${table}`)).toEqual([[0]]);
    expect(await query('select stream_seq from quarantine')).toEqual([[1]]);
  });

  it('marks a session damaged whose events the journal lacks, and the others flow', async () => {
    const journal = new JournalScript();
    journal.commit([created, note(1)], { session: 's1' });
    journal.commit([note(5), note(6)], { session: 's1', sequence: 5 });
    journal.commit([note(9)], { session: 's1', sequence: 9 });
    journal.commit([note(3)], { session: 's2', sequence: 3 });
    journal.commit([created, note(1)], { session: 's3' });
    const { projector } = start(journal);
    await projected(journal);
    expect(await query('select session_id, missing_from, last_seq from sessions order by 1')).toEqual([
      ['s1', 2, 9],
      ['s2', 0, 3],
      ['s3', null, 1],
    ]);
    expect(projector.counts).toMatchObject({ events: 8, gaps: 3 });
  });

  it('projects once with three replicas and connections that break all the time', async () => {
    const journal = new JournalScript();
    const replicas = [start(journal), start(journal), start(journal)];
    for (let i = 0; i < 4_000; i += 1) {
      journal.commit([i < 50 ? created : note(i), note(i)], { session: `s${i % 50}` });
      if (i % 400 === 399) {
        await until(async () => (await position()) > i - 600);
        await terminateProjectors();
      }
    }
    await projected(journal);
    await expectEqualToJournal(journal);
    expect(await query('select count(*), sum(last_seq) from sessions')).toEqual([[50, 50 * 159]]);
    await until(() => replicas.filter(({ projector }) => projector.state.status === 'projecting').length === 1);
    expect(replicas.some(({ statuses }) => statuses.includes('waiting'))).toBe(true);
  });

  it('has one active replica; another takes over within seconds when it ends', async () => {
    const journal = scriptedSession();
    const first = start(journal);
    await projected(journal);
    const second = start(journal);
    await until(() => second.projector.state.status === 'standby');
    await first.end();
    journal.commit([note(1)]);
    const began = Date.now();
    await projected(journal);
    expect(Date.now() - began).toBeLessThan(5_000);
    expect(second.projector.state).toEqual({ status: 'projecting', streamSequence: journal.entries.length });
    await expectEqualToJournal(journal);
  });

  it('notices while nothing happens that it has lost its connection, and with it the lock', async () => {
    const replicas = [start(new JournalScript()), start(new JournalScript())];
    const isOneActive = () => replicas.filter(({ projector }) => projector.state.status === 'projecting').length === 1;
    await until(isOneActive);
    const active = replicas.find(({ projector }) => projector.state.status === 'projecting');
    await terminateProjectors();
    await until(() => active?.statuses.includes('waiting') === true);
    await until(isOneActive);
  });

  it('stops with the way out when the journal is another one or ends too early, and leaves SQL as it was', async () => {
    const journal = scriptedSession();
    const { end } = start(journal);
    await projected(journal);
    await end();
    const other = scriptedSession();
    other.created = '2026-12-01T00:00:00Z';
    const older = new JournalScript();
    older.entries.push(...journal.entries.slice(0, 3));
    for (const [source, code] of [
      [other, 'journal_recreated'],
      [older, 'journal_older'],
    ] as const) {
      const { projector, running } = start(source);
      await running;
      expect(projector.state).toMatchObject({ status: 'stopped', error: { code } });
    }
    await expectEqualToJournal(journal);
  });

  it('finds out while it runs that the journal was created anew', async () => {
    const journal = scriptedSession();
    const { projector, running } = start(journal);
    await projected(journal);
    journal.created = '2026-12-01T00:00:00Z';
    await running;
    expect(projector.state).toMatchObject({ status: 'stopped', error: { code: 'journal_recreated' } });
  });

  it('stops when SQL holds another version of the projection', async () => {
    const journal = scriptedSession();
    const { end } = start(journal);
    await projected(journal);
    await end();
    await db.updateTable('position').set({ version: 99 }).execute();
    const { projector, running } = start(journal);
    await running;
    expect(projector.state).toMatchObject({ status: 'stopped', error: { code: 'projection_version' } });
  });
});
