import { chmod, mkdtemp, readFile, rm, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { putPolicySet } from '@jetloop/hook-policy';
import { applyTopology, Bus, PolicyStore } from '@jetloop/messaging';
import { startInfra } from '@jetloop/testing';
import { serviceNames, type BenchOptions, type Sync } from './options.ts';
import { embeddedOnly } from './embedded-only.ts';
import { startService, type BenchProcess } from './service-process.ts';
import { catalogueOf, FILE, FILE_TEXT, policySet } from './workload.ts';

/** Everything but the client: servers on a fresh store, and each service in its own process. */
export interface BenchSystem {
  readonly natsUrl: string;
  readonly databaseUrl: string;
  readonly natsPid: number;
  readonly postgresPid: number;
  readonly workspace: string;
  readonly services: readonly BenchProcess[];
  /** A connection for looking at the streams. */
  readonly bus: Bus;
  /** Where the profile of a service is after `stop()`. */
  readonly profileFile: string;
  /** Ends the services, in the order in which they started last. */
  stopServices(): Promise<void>;
  stop(): Promise<void>;
}

export async function startSystem(options: BenchOptions, sync: Sync): Promise<BenchSystem> {
  const folder = await mkdtemp(join(tmpdir(), 'jetloop-bench-'));
  await chmod(folder, 0o711);
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  try {
    return await start(options, sync, folder, stops, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  options: BenchOptions,
  sync: Sync,
  folder: string,
  stops: (() => Promise<void>)[],
  stop: () => Promise<void>,
): Promise<BenchSystem> {
  const dataDir = join(folder, 'data');
  const { workspace, models, profiles } = await prepare(folder, options.think);
  const infra = await startInfra({
    dataDir,
    env: embeddedOnly(),
    ...(sync === 'always' ? { jetStreamConfig: ['sync_interval: always'] } : {}),
    ...(options.natsThreads === undefined ? {} : { natsEnv: { GOMAXPROCS: String(options.natsThreads) } }),
  });
  stops.push(() => infra.stop());
  const { natsUrl, databaseUrl } = infra;
  const bus = await Bus.connect({ url: natsUrl, name: 'bench' });
  stops.push(() => bus.close());
  await applyTopology(bus);
  if (options.policies) await putPolicies(bus);
  const services: BenchProcess[] = [];
  const stopServices = async () => {
    for (const service of services.toReversed()) await service.stop();
  };
  stops.push(stopServices);
  const env = {
    NATS_URL: natsUrl,
    DATABASE_URL: databaseUrl,
    JETLOOP_WORKSPACE_ROOTS: workspace,
    JETLOOP_ALLOW_INLINE_AGENTS: 'true',
    JETLOOP_MODELS: models,
    JETLOOP_GRACE_MS: '2000',
    ...(options.policies ? { JETLOOP_POLICY_MODULES: join(import.meta.dirname, 'policy.ts') } : {}),
  };
  for (const service of serviceNames) {
    const profiling =
      service === options.profile ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`, '--cpu-prof-name=cpu.json'] : [];
    services.push(await startService({ service, env, nodeOptions: profiling }));
  }
  return {
    natsUrl,
    databaseUrl,
    natsPid: await readPid(join(dataDir, 'nats', 'nats.pid')),
    postgresPid: await readPid(join(dataDir, 'postgres', 'data', 'postmaster.pid')),
    workspace,
    services,
    bus,
    profileFile: join(profiles, 'cpu.json'),
    stopServices,
    stop,
  };
}

async function prepare(
  folder: string,
  think: number,
): Promise<{ workspace: string; models: string; profiles: string }> {
  const workspace = join(folder, 'workspace');
  const profiles = join(folder, 'profiles');
  const models = join(folder, 'models.yaml');
  await Promise.all([mkdir(workspace), mkdir(profiles), writeFile(models, JSON.stringify(catalogueOf(think)))]);
  await writeFile(join(workspace, FILE), FILE_TEXT);
  return { workspace, models, profiles };
}

async function putPolicies(bus: Bus): Promise<void> {
  const store = await PolicyStore.open(bus);
  await putPolicySet(store, JSON.stringify(policySet), 'bench');
  store.close();
}

async function readPid(file: string): Promise<number> {
  const pid = Number((await readFile(file, 'utf8')).split('\n')[0]);
  if (!Number.isInteger(pid) || pid < 2) throw new Error(`${file} holds no process id`);
  return pid;
}
