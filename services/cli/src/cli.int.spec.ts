import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyTopology, Bus, Journal } from '@jetloop/messaging';
import { testServers, type TestServers } from '@jetloop/testing';
import { runProgram } from './program.js';
import { entriesOf, events } from './testing/entries.js';
import { recordingIo } from './testing/io.js';

let servers: TestServers;
let bus: Bus;

beforeAll(async () => {
  servers = await testServers();
  bus = await Bus.connect({ url: servers.natsUrl, name: 'cli-test' });
});
afterAll(async () => {
  await bus.close();
  await servers.stop();
});

async function jetloop(...args: string[]) {
  const env = { NATS_URL: servers.natsUrl, DATABASE_URL: servers.databaseUrl };
  const { io, out, err } = recordingIo({ env });
  const exitCode = await runProgram(args, io);
  return { exitCode, out: out(), err: err() };
}

it('says that a server does not carry Jetloop', async () => {
  const { exitCode, err } = await jetloop('show', 's1');
  expect(exitCode).toBe(3);
  expect(err).toContain('Does this NATS server carry Jetloop');
});

describe('show', () => {
  beforeAll(async () => {
    await applyTopology(bus);
    const entries = entriesOf(events.turnStart(), events.userMessage('Hello'), events.turnEnd());
    const commit = {
      tenant: servers.tenant,
      session: 's1',
      causation: 'c1',
      actor: 'tester',
      at: new Date(0).toISOString(),
      events: entries.map(({ event }) => event),
    };
    await new Journal(bus).commit(commit, 0);
  });

  it('gives one line an event', async () => {
    const { exitCode, out } = await jetloop('show', 's1', '--tenant', servers.tenant);
    expect(exitCode).toBe(0);
    expect(out.split('\n')).toEqual([
      '+0 ms  0  turn.start    turn 1, by message',
      '+0 ms  1  user.message  "Hello"',
      '+0 ms  2  turn.end      turn 1: completed',
      '',
    ]);
  });

  it('gives one JSON object an event', async () => {
    const { out } = await jetloop('show', 's1', '--tenant', servers.tenant, '--json');
    const objects = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(objects).toMatchObject([
      { sequence: 0, type: 'turn.start', causation: 'c1', actor: 'tester', data: { turn: 1 } },
      { sequence: 1, type: 'user.message' },
      { sequence: 2, type: 'turn.end' },
    ]);
  });

  it('says that there is no such session, and how to find one', async () => {
    const { exitCode, err, out } = await jetloop('show', 's2', '--tenant', servers.tenant);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toContain(`There is no session s2 in tenant ${servers.tenant}.`);
    expect(err).toContain('jetloop sql');
  });
});

describe('sql', () => {
  it('gives a table', async () => {
    const { exitCode, out } = await jetloop('sql', "select 1 as one, 'x' as text, count(*) as n from sessions");
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: 'one  text  n\n───  ────  ─\n  1  x     0\n(1 row)\n' });
  });

  it('gives JSON', async () => {
    const { out } = await jetloop('sql', 'select 1 as one', '--json');
    expect(JSON.parse(out)).toEqual({ columns: ['one'], rows: [[1]], truncated: false });
  });

  it.each([
    ['select foo from sessions', 'column "foo" does not exist', 'line 1: select foo from sessions\n               ^'],
    ['selec 1', 'syntax error at or near "selec"', '^'],
    ['delete from sessions', 'read-only transaction', ''],
    ['select 1; select 2', 'cannot insert multiple commands', ''],
  ])('says what PostgreSQL says of %j', async (query, message, place) => {
    const { exitCode, out, err } = await jetloop('sql', query);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: '' });
    expect(err).toContain(message);
    expect(err).toContain(place);
  });

  it('says with exit code 3 that a database cannot be reached', async () => {
    const { io, err } = recordingIo({ env: { DATABASE_URL: 'postgres://x@127.0.0.1:1/x' } });
    expect(await runProgram(['sql', 'select 1'], io)).toBe(3);
    expect(err()).toContain('ECONNREFUSED');
  });
});
