import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { awaitFormerServer } from '../former-server.js';
import type { StartedServer } from '../infra.js';
import type { Reaper } from '../reaper.js';
import { startProcess } from '../server-process.js';
import { natsConfigText } from './nats-config.js';

const START_TIMEOUT_MS = 30_000;

export interface NatsStart {
  readonly program: string;
  /** Holds configuration, log and JetStream's store. */
  readonly folder: string;
  readonly accounts: number;
  /** Default: a free one. */
  readonly port?: number;
  /** More lines for the configuration's block `jetstream`. */
  readonly jetStream?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly reaper: Reaper;
}

/** Starts nats-server with JetStream on 127.0.0.1 and waits until it accepts connections. */
export async function startNats(start: NatsStart): Promise<StartedServer> {
  const config = {
    host: '127.0.0.1',
    port: start.port ?? -1,
    storeFolder: join(start.folder, 'store'),
    portsFolder: join(start.folder, 'ports'),
    pidFile: join(start.folder, 'nats.pid'),
    accounts: start.accounts,
    ...(start.jetStream ? { jetStream: start.jetStream } : {}),
  };
  await awaitFormerServer(config.pidFile, 'nats-server');
  await rm(config.portsFolder, { recursive: true, force: true });
  await mkdir(config.portsFolder, { recursive: true });
  const configFile = join(start.folder, 'nats.conf');
  await writeFile(configFile, natsConfigText(config), { mode: 0o600 });
  const server = await startProcess({
    name: 'nats-server',
    program: start.program,
    args: ['--config', configFile],
    env: start.env,
    logFile: join(start.folder, 'nats.log'),
  });
  start.reaper.watch(server.pid);
  const stop = () => server.stop('SIGINT');
  try {
    const portsFile = join(config.portsFolder, `nats-server_${server.pid}.ports`);
    const url = await server.until(() => readClientUrl(portsFile), START_TIMEOUT_MS);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The server writes the file once it listens; until all of it is there, nothing matches. */
async function readClientUrl(portsFile: string): Promise<string | undefined> {
  const text = await readFile(portsFile, 'utf8').catch(() => ''); // not written yet
  const port = /"nats:\/\/127\.0\.0\.1:(\d+)"/.exec(text)?.[1];
  return port === undefined ? undefined : `nats://127.0.0.1:${port}`;
}
