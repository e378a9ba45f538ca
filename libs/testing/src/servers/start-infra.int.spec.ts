import { createDatabase, dropDatabase } from '@jetloop/persistence';
import { afterEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Infra } from './infra.js';
import { startInfra } from './start-infra.js';

/** The environment without the addresses that a developer may have set: these tests are about embedded servers. */
const env = { ...process.env, NATS_URL: '', DATABASE_URL: '', JETLOOP_INFRA: '' };

const addressesSchema = z.object({ natsUrl: z.string(), databaseUrl: z.string() });

/** Says hello to a NATS server as a user and returns all that it says before or with its first PONG or error. */
async function greet(natsUrl: string, user?: string): Promise<string> {
  const { hostname, port } = new URL(natsUrl);
  const socket = connect(Number(port), hostname);
  const login = user === undefined ? {} : { user, pass: user };
  socket.write(`CONNECT ${JSON.stringify({ verbose: false, ...login })}\r\nPING\r\n`);
  let said = '';
  for await (const chunk of socket) {
    said += String(chunk);
    if (said.includes('PONG') || said.includes('-ERR')) break;
  }
  socket.destroy();
  return said;
}

const accepts = async (url: string) => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false; // refused: nothing listens
  } finally {
    socket.destroy();
  }
};

describe('startInfra', () => {
  let infra: Infra | undefined;
  afterEach(() => infra?.stop());

  it('starts NATS with JetStream and Postgres, and ends both', async () => {
    infra = await startInfra({ env });
    expect(infra.describe).toEqual({ nats: 'embedded', postgres: 'embedded' });
    const greeting = await greet(infra.natsUrl);
    expect(greeting).toContain('"jetstream":true');
    expect(greeting).toContain('PONG');
    const url = await createDatabase(infra.databaseUrl, 'one');
    expect(new URL(url).pathname).toBe('/one');
    await dropDatabase(infra.databaseUrl, 'one');
    await Promise.all([infra.stop(), infra.stop()]);
    expect(await accepts(infra.natsUrl)).toBe(false);
    expect(await accepts(infra.databaseUrl)).toBe(false);
  });

  it('gives every account a user, and lets nobody else in', async () => {
    infra = await startInfra({ env, natsAccounts: 3, need: { postgres: false } });
    expect(infra.databaseUrl).toBe('');
    expect(await greet(infra.natsUrl, 't3')).toContain('PONG');
    expect(await greet(infra.natsUrl, 't4')).toContain('-ERR');
    expect(await greet(infra.natsUrl)).toContain('-ERR');
  });

  it('keeps a given data folder and goes on with it', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'jetloop-keep-'));
    await chmod(dataDir, 0o711);
    try {
      infra = await startInfra({ env, dataDir, need: { nats: false } });
      await createDatabase(infra.databaseUrl, 'kept');
      await infra.stop();
      infra = await startInfra({ env, dataDir, need: { nats: false } });
      await expect(createDatabase(infra.databaseUrl, 'kept')).rejects.toThrow();
      await infra.stop();
    } finally {
      await rm(dataDir, { recursive: true });
    }
  });

  it('leaves no server and no data behind when its owner is killed', async () => {
    const built = new URL('../../dist/servers/start-infra.js', import.meta.url);
    const script = `
      const { startInfra } = await import(${JSON.stringify(built.href)});
      const infra = await startInfra();
      console.log(JSON.stringify(infra));
      setInterval(() => undefined, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = z.tuple([z.string()]).parse(await once(createInterface(owner.stdout), 'line'));
    const { natsUrl, databaseUrl } = addressesSchema.parse(JSON.parse(line));
    expect(await accepts(natsUrl)).toBe(true);
    owner.kill('SIGKILL');
    for (let tries = 0; tries < 100 && ((await accepts(natsUrl)) || (await accepts(databaseUrl))); tries += 1)
      await sleep(50);
    expect(await accepts(natsUrl)).toBe(false);
    expect(await accepts(databaseUrl)).toBe(false);
  });
});
