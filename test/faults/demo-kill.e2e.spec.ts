import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { JetloopClient } from '@jetloop/client';
import { testServers, type TestServers } from '@jetloop/testing';
import { equalsJournal } from './support/equals-journal.js';
import { logOf, problemsOf } from './support/session-log.js';

jest.setTimeout(120_000);

const JETLOOP = join(import.meta.dirname, '../../services/cli/bin/jetloop.js');

interface DemoLine {
  readonly processes?: Record<string, number>;
  readonly note?: string;
  readonly mended?: boolean;
}

describe('the demo on processes', () => {
  let servers: TestServers;
  beforeAll(async () => {
    servers = await testServers();
  });
  afterAll(() => servers.stop());

  it('ends well though every service is killed in turn; SQL and the public stream equal the journal', async () => {
    const { natsUrl, databaseUrl } = servers;
    const demo = spawn(process.execPath, [JETLOOP, 'demo', '--processes', '--json'], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NATS_URL: natsUrl, DATABASE_URL: databaseUrl },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(demo, 'exit');
    const lines: DemoLine[] = [];
    for await (const line of createInterface({ input: demo.stdout })) {
      const said = JSON.parse(line) as DemoLine;
      lines.push(said);
      if (said.processes) void killInTurn(Object.values(said.processes));
    }
    expect(await exited).toEqual([0, null]);
    const restarts = lines.flatMap(({ note }) => note ?? []);
    expect(restarts.filter((note) => note.includes('ended by SIGKILL, started again'))).toHaveLength(5);
    expect(lines.at(-1)).toMatchObject({ mended: true });

    const client = await JetloopClient.connect({ natsUrl, tenant: 'demo', actor: 'test' });
    const log = await logOf(client, 'mend-the-cart');
    await client.close();
    expect(problemsOf(log)).toEqual([]);
    await equalsJournal({ natsUrl, databaseUrl, tenant: 'demo' }, 'mend-the-cart', log);
  });
});

/** One after another while the turn runs, which takes some seconds. */
async function killInTurn(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    await sleep(500);
    process.kill(pid, 'SIGKILL');
  }
}
