// npm run bench -- router: what the llm-router itself costs (docs/benchmarks.md).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyTopology, Bus } from '@jetloop/messaging';
import { startInfra } from '@jetloop/testing';
import { embeddedOnly } from './embedded-only.ts';
import { cpuSeconds, machineCpuSeconds, residentMemory } from './process-usage.ts';
import { addedBy, RouterLoad } from './router-load.ts';
import { CHUNKS, RouterProvider, type BenchDialect } from './router-provider.ts';
import { startService } from './service-process.ts';
import { quantile } from './statistics.ts';

export interface RouterOptions {
  readonly dialect: BenchDialect;
  /** Streams begun a second. */
  readonly rate: number;
  readonly seconds: number;
  /** Streams held open for the memory figures. */
  readonly open: number;
  /** Where a CPU profile of the router goes; undefined: none. */
  readonly profileFolder?: string;
}

export interface RouterMeasurement {
  readonly dialect: BenchDialect;
  readonly streams: number;
  readonly cpuMsAStream: number;
  /** Cores that the router used. */
  readonly cores: number;
  /** Cores that everything on the machine used. */
  readonly machineCores: number;
  readonly before: { readonly p50: number; readonly p99: number };
  readonly after: { readonly p50: number; readonly p99: number };
  readonly added: { readonly p50: number; readonly p99: number };
  readonly memory: { readonly before: number; readonly open: number; readonly after: number };
}

const WARM_UP = 2_000;
const SMALL_PROMPT = 2_000;
const LARGE_PROMPT = 60_000;
const SETTLE_MS = 3_000;

/** Starts nats-server, one router and a provider, and measures streams of 60 pieces. */
export async function measureRouter(options: RouterOptions): Promise<RouterMeasurement> {
  const folder = await mkdtemp(join(tmpdir(), 'jetloop-bench-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const provider = new RouterProvider();
    const url = await provider.start();
    stops.push(() => provider.stop());
    const infra = await startInfra({ env: embeddedOnly() });
    stops.push(() => infra.stop());
    const bus = await Bus.connect({ url: infra.natsUrl, name: 'bench' });
    stops.push(() => bus.close());
    await applyTopology(bus);
    const models = join(folder, 'models.yaml');
    const target = { provider: 'bench', dialect: options.dialect, model: 'bench', baseUrl: `${url}/v1` };
    await writeFile(models, JSON.stringify({ targets: { bench: target } }));
    const router = await startService({
      service: 'llm-router',
      env: { NATS_URL: infra.natsUrl, JETLOOP_MODELS: models, JETLOOP_GRACE_MS: '2000' },
      nodeOptions: options.profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profileFolder}`],
    });
    stops.push(() => router.stop());
    return await measure(options, router.pid, provider, new RouterLoad(bus, 'bench'));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function measure(
  { dialect, rate, seconds, open }: RouterOptions,
  pid: number,
  provider: RouterProvider,
  load: RouterLoad,
): Promise<RouterMeasurement> {
  await load.run(await load.prepare(WARM_UP, SMALL_PROMPT), rate, 60_000);
  const streams = await load.prepare(rate * seconds, SMALL_PROMPT);
  await sleep(SETTLE_MS);
  const started = { at: performance.now(), cpu: await cpuSeconds(pid), machine: await machineCpuSeconds() };
  await load.run(streams, rate, 120_000);
  const elapsed = (performance.now() - started.at) / 1_000;
  const cpu = (await cpuSeconds(pid)) - started.cpu;
  const machine = (await machineCpuSeconds()) - started.machine;
  const added = addedBy(streams, provider);
  const memory = await measureMemory(pid, open, provider, load);
  return {
    dialect,
    streams: streams.length,
    cpuMsAStream: (cpu * 1_000) / streams.length,
    cores: cpu / elapsed,
    machineCores: machine / elapsed,
    before: quantiles(added.map(({ before }) => before)),
    after: quantiles(added.map(({ after }) => after)),
    added: quantiles(added.map(({ before, after }) => before + after)),
    memory,
  };
}

/** Resident memory (MB) before, with so many streams of 60 kB requests open, and after them. */
async function measureMemory(pid: number, open: number, provider: RouterProvider, load: RouterLoad) {
  const streams = await load.prepare(open, LARGE_PROMPT);
  await sleep(SETTLE_MS);
  const before = await residentMemory(pid);
  provider.hold();
  for (const stream of streams) load.send(stream);
  const deadline = Date.now() + 60_000;
  while (provider.openStreams < open) {
    if (Date.now() > deadline) throw new Error(`expected ${open} open streams, got ${provider.openStreams}`);
    await sleep(20);
  }
  await sleep(SETTLE_MS);
  const during = await residentMemory(pid);
  provider.release();
  await load.answered(streams, 60_000);
  await sleep(2 * SETTLE_MS);
  return { before, open: during, after: await residentMemory(pid) };
}

function quantiles(values: readonly number[]): { p50: number; p99: number } {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

/** The rows of docs/benchmarks.md. */
export function routerTable(rows: readonly RouterMeasurement[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const ms = ({ p50, p99 }: { p50: number; p99: number }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  const head = [
    'dialect',
    'streams',
    `CPU ms a stream of ${CHUNKS}`,
    'router, all: cores',
    'to the request p50 / p99 ms',
    'to the reply p50 / p99 ms',
    'added p50 / p99 ms',
    'MB before / open / after',
  ];
  return [
    line(head),
    line(head.map(() => '---')),
    ...rows.map(({ dialect, streams, cpuMsAStream, cores, machineCores, before, after, added, memory }) =>
      line([
        dialect,
        String(streams),
        cpuMsAStream.toFixed(2),
        `${cores.toFixed(2)}, ${machineCores.toFixed(2)}`,
        ms(before),
        ms(after),
        ms(added),
        [memory.before, memory.open, memory.after].map((megabytes) => megabytes.toFixed(0)).join(' / '),
      ]),
    ),
  ].join('\n');
}
