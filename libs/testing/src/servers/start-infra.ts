import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { chooseOrigin, type ChosenOrigin } from './choose-origin.js';
import { startNatsContainer, startPostgresContainer } from './containers.js';
import { type EmbeddedHost, openEmbeddedHost } from './embedded-host.js';
import { InfraError } from './infra-error.js';
import type { Infra, InfraOptions, ServerOrigin, StartedServer } from './infra.js';
import { provideNatsServer } from './nats/provide-nats-server.js';
import { startNats } from './nats/start-nats.js';
import { startPostgres } from './postgres/start-postgres.js';
import { errorMessage } from './error-facts.js';

type Plan = ChosenOrigin | { readonly from: 'not-needed' };
const NO_SERVER: StartedServer = { url: '', stop: () => Promise.resolve() };

/**
 * Provides NATS and Postgres: each from its address (`NATS_URL`, `DATABASE_URL`), else both from containers
 * (`JETLOOP_INFRA=containers`), else as embedded programs on free ports of 127.0.0.1, where nats-server is fetched once
 * if the machine has none. They start at the same time.
 *
 * No signal handler is installed: the owner calls `stop()`. When the owner dies without it, a small watcher process ends
 * the embedded servers and removes their temporary data.
 *
 * @throws InfraError which names all the ways to a server when there is none, or says why one does not start.
 * @example
 * const infra = await startInfra({ onProgress: console.error });
 * try {
 *   await run(infra.natsUrl, infra.databaseUrl);
 * } finally {
 *   await infra.stop();
 * }
 */
export async function startInfra(options: InfraOptions = {}): Promise<Infra> {
  const env = options.env ?? process.env;
  const need = { nats: true, postgres: true, ...options.need };
  const nats: Plan = need.nats ? chooseOrigin(env, 'NATS_URL') : { from: 'not-needed' };
  const postgres: Plan = need.postgres ? chooseOrigin(env, 'DATABASE_URL') : { from: 'not-needed' };
  const origins: readonly ServerOrigin[] = [nats.from, postgres.from];
  if (options.dataDir !== undefined && origins.includes('containers'))
    throw new InfraError('Containers keep no data in a folder: leave the data folder out, or unset JETLOOP_INFRA.');

  const host = origins.includes('embedded')
    ? await openEmbeddedHost(options.dataDir === undefined ? undefined : resolve(options.dataDir))
    : undefined;
  const started: StartedServer[] = [];
  const keep = async (starting: Promise<StartedServer>) => {
    const server = await starting;
    started.push(server);
    return server;
  };
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= stopAll(started, host));
  const starting = [
    keep(
      provide(nats, host, {
        containers: () => startNatsContainer(env, options.natsAccounts ?? 0, options.jetStreamConfig ?? []),
        embedded: (opened) => startEmbeddedNats(opened, options),
      }),
    ),
    keep(
      provide(postgres, host, {
        containers: () => startPostgresContainer(env, options.postgresFlags ?? []),
        embedded: (opened) => startEmbeddedPostgres(opened, options),
      }),
    ),
  ] as const;
  try {
    const [natsServer, postgresServer] = await Promise.all(starting);
    const describe = { nats: nats.from, postgres: postgres.from };
    return { natsUrl: natsServer.url, databaseUrl: postgresServer.url, describe, stop };
  } catch (error) {
    // The other one may still be starting: only what has started can be stopped.
    const results = await Promise.allSettled(starting);
    await stop();
    const reasons = results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : []));
    if (reasons.length < 2) throw error;
    const messages = reasons.map(errorMessage);
    throw new InfraError(messages.join('\n'), { cause: new AggregateError(reasons) });
  }
}

async function stopAll(servers: readonly StartedServer[], host: EmbeddedHost | undefined): Promise<void> {
  try {
    await Promise.all(servers.map((server) => server.stop()));
  } finally {
    await host?.close();
  }
}

interface Ways {
  containers(): Promise<StartedServer>;
  embedded(host: EmbeddedHost): Promise<StartedServer>;
}

async function provide(plan: Plan, host: EmbeddedHost | undefined, ways: Ways): Promise<StartedServer> {
  switch (plan.from) {
    case 'not-needed':
      return NO_SERVER;
    case 'given':
      return { ...NO_SERVER, url: plan.url };
    case 'containers':
      return ways.containers();
    case 'embedded':
      if (host === undefined) throw new InfraError('An embedded server has no folder.');
      return ways.embedded(host);
  }
}

async function startEmbeddedNats(host: EmbeddedHost, options: InfraOptions): Promise<StartedServer> {
  const program = await provideNatsServer(options.env ?? process.env, options.onProgress ?? (() => undefined));
  const folder = join(host.folder, 'nats');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return startNats({
    program: program.path,
    folder,
    accounts: options.natsAccounts ?? 0,
    env: { PATH: '/usr/bin:/bin', GOMAXPROCS: String(natsThreads(availableParallelism())), ...options.natsEnv },
    ...(options.jetStreamConfig ? { jetStream: options.jetStreamConfig } : {}),
    ...(options.natsPort === undefined ? {} : { port: options.natsPort }),
    reaper: host.reaper,
  });
}

/** Half of the cores: the other half is for those whom it serves. On two cores one thread does the same with less CPU. */
function natsThreads(cores: number): number {
  return Math.max(1, Math.floor(cores / 2));
}

function startEmbeddedPostgres(host: EmbeddedHost, options: InfraOptions): Promise<StartedServer> {
  const { temporary, reaper } = host;
  return startPostgres({
    folder: join(host.folder, 'postgres'),
    temporary,
    flags: options.postgresFlags ?? [],
    reaper,
  });
}
