import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openEmbeddedHost } from '../embedded-host.js';
import { freePort } from '../free-port.js';
import { startProcess, type ServerProcess } from '../server-process.js';
import { provideNatsServer } from './provide-nats-server.js';

export interface NatsCluster {
  /** Addresses of all servers, separated by commas. */
  readonly natsUrl: string;
  readonly servers: readonly ServerProcess[];
  stop(): Promise<void>;
}

const SIZE = 3;
const START_MS = 30_000;
const LOOK_MS = 200;

interface Ports {
  readonly client: number;
  readonly cluster: number;
  readonly monitor: number;
}

/** Starts three NATS servers as one cluster on 127.0.0.1, with JetStream, and waits until they have a leader. */
export async function startNatsCluster(env: NodeJS.ProcessEnv = process.env): Promise<NatsCluster> {
  const { path: program } = await provideNatsServer(env, () => undefined);
  const host = await openEmbeddedHost(undefined);
  const ports = await Promise.all(
    Array.from({ length: SIZE }, async (): Promise<Ports> => ({
      client: await freePort(),
      cluster: await freePort(),
      monitor: await freePort(),
    })),
  );
  const servers: ServerProcess[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop('SIGINT')));
    await host.close();
  };
  try {
    for (const [index, own] of ports.entries()) {
      const folder = join(host.folder, `n${index}`);
      await mkdir(folder, { recursive: true });
      const config = join(folder, 'nats.conf');
      await writeFile(config, configOf(`n${index}`, own, ports, join(folder, 'store')));
      const logFile = join(folder, 'nats.log');
      const server = await startProcess({ name: 'nats-server', program, args: ['--config', config], env: {}, logFile });
      host.reaper.watch(server.pid);
      servers.push(server);
    }
    await waitForLeader(servers, ports);
    return { natsUrl: ports.map(({ client }) => `nats://127.0.0.1:${client}`).join(','), servers, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configOf(name: string, own: Ports, all: readonly Ports[], store: string): string {
  const routes = all.map(({ cluster }) => `nats-route://127.0.0.1:${cluster}`).join(', ');
  return [
    `server_name: ${name}`,
    `listen: 127.0.0.1:${own.client}`,
    `http: 127.0.0.1:${own.monitor}`,
    `jetstream { store_dir: ${JSON.stringify(store)} }`,
    `cluster { name: test, listen: 127.0.0.1:${own.cluster}, routes: [${routes}] }`,
    '',
  ].join('\n');
}

/** Streams can be made once the servers have elected who leads their metadata, and all of them take part. */
async function waitForLeader([first]: readonly ServerProcess[], [own]: readonly Ports[]): Promise<void> {
  await first?.until(async () => {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const answer = await fetch(`http://127.0.0.1:${own?.monitor}/jsz`).catch(() => undefined); // not up yet
    const state = (await answer?.json()) as
      { meta_cluster?: { leader?: string; cluster_size?: number; replicas?: unknown[] } } | undefined;
    const meta = state?.meta_cluster;
    return meta?.leader !== undefined && meta.leader !== '' && meta.cluster_size === SIZE ? true : undefined;
  }, START_MS);
}
