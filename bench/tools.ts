// npm run bench -- tools: what the tool-runner itself costs (docs/benchmarks.md).
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyTopology, Bus } from '@jetloop/messaging';
import { startInfra } from '@jetloop/testing';
import { embeddedOnly } from './embedded-only.ts';
import { cpuSeconds, machineCpuSeconds, peakMemory, residentMemory, resetPeak } from './process-usage.ts';
import { startService } from './service-process.ts';
import { quantile } from './statistics.ts';
import { ToolLoad } from './tool-load.ts';

export interface ToolsOptions {
  /** Calls that are made as fast as they go. */
  readonly calls: number;
  /** How many of these run at once. */
  readonly atOnce: number;
  /** Calls that are made one after the other. */
  readonly single: number;
}

/** Calls of one tool. */
export interface ToolMeasurement {
  readonly tool: string;
  readonly callsPerSecond: number;
  /** Of the runner. */
  readonly cpuMsACall: number;
  /** Cores that everything else on the machine used, NATS and the benchmark itself included. */
  readonly otherCores: number;
  /** Milliseconds from the command to the reply, one call at a time. */
  readonly single: { readonly p50: number; readonly p99: number };
}

/** Resident memory (MB) of the runner around one command that writes so much (MB). */
export interface OutputMeasurement {
  readonly written: number;
  readonly before: number;
  readonly peak: number;
  readonly after: number;
}

export interface ToolsMeasurement {
  readonly loadBefore: number;
  readonly tools: readonly ToolMeasurement[];
  readonly outputs: readonly OutputMeasurement[];
}

const TOOLS = ['nothing', 'nothing_once'];
const WARM_UP = 4_000;
/** One after the other: memory that grew with an output would grow with these. */
const OUTPUTS_MB = [10, 25, 50, 50];
const SETTLE_MS = 2_000;
const PATIENCE_MS = 60_000;
const BYTES_A_MB = 1_000_000;
const BYTES_A_MIB = 1_048_576;

/** Starts nats-server and one runner, and measures tools that do nothing and a command that writes a lot. */
export async function measureTools(options: ToolsOptions): Promise<ToolsMeasurement> {
  const loadBefore = loadavg()[0] ?? NaN;
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'jetloop-bench-')));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const infra = await startInfra({
      env: embeddedOnly(),
      need: { postgres: false },
    });
    stops.push(() => infra.stop());
    const bus = await Bus.connect({ url: infra.natsUrl, name: 'bench' });
    stops.push(() => bus.close());
    await applyTopology(bus);
    const runner = await startService({
      service: 'tool-runner',
      env: {
        NATS_URL: infra.natsUrl,
        JETLOOP_WORKSPACE_ROOTS: folder,
        JETLOOP_TOOL_MODULES: join(import.meta.dirname, 'tool-module.mjs'),
        JETLOOP_GRACE_MS: '2000',
      },
      nodeOptions: [],
    });
    stops.push(() => runner.stop());
    const load = new ToolLoad(bus, folder);
    const outputs = await measureOutputs(runner.pid, load);
    const tools: ToolMeasurement[] = [];
    for (const tool of TOOLS) tools.push(await measureCalls(runner.pid, load, tool, options));
    return { loadBefore, tools, outputs };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function measureCalls(
  pid: number,
  load: ToolLoad,
  name: string,
  { calls, atOnce, single }: ToolsOptions,
): Promise<ToolMeasurement> {
  const prepare = (count: number) => load.prepare(count, { name, args: {} });
  await load.run(await prepare(WARM_UP), atOnce, PATIENCE_MS);
  const alone = await prepare(single);
  await sleep(SETTLE_MS);
  const times = await load.run(alone, 1, PATIENCE_MS);
  const commands = await prepare(calls);
  await sleep(SETTLE_MS);
  const started = { at: performance.now(), cpu: await cpuSeconds(pid), machine: await machineCpuSeconds() };
  await load.run(commands, atOnce, PATIENCE_MS);
  const seconds = (performance.now() - started.at) / 1_000;
  const cpu = (await cpuSeconds(pid)) - started.cpu;
  const machine = (await machineCpuSeconds()) - started.machine;
  return {
    tool: name,
    callsPerSecond: calls / seconds,
    cpuMsACall: (cpu * 1_000) / calls,
    otherCores: (machine - cpu) / seconds,
    single: { p50: quantile(times, 0.5), p99: quantile(times, 0.99) },
  };
}

/** Of a runner that has done next to nothing yet: what thousands of calls left in its heap would hide the commands. */
async function measureOutputs(pid: number, load: ToolLoad): Promise<OutputMeasurement[]> {
  const measured: OutputMeasurement[] = [];
  for (const written of OUTPUTS_MB) {
    const bytes = written * BYTES_A_MB;
    const [call] = await load.prepare(1, {
      name: 'bash',
      args: { command: `head -c ${bytes} /dev/zero | tr '\\0' x` },
    });
    if (!call) throw new Error('expected a call');
    await sleep(SETTLE_MS);
    const before = await residentMemory(pid);
    await resetPeak(pid);
    const { output } = await load.call(call, AbortSignal.timeout(PATIENCE_MS));
    const peak = ((await peakMemory(pid)) * BYTES_A_MIB) / BYTES_A_MB;
    if (!JSON.stringify(output).includes(`"totalBytes":${bytes}`))
      throw new Error(`expected an output of ${bytes} bytes, got ${JSON.stringify(output)}`);
    measured.push({ written, before, peak, after: await residentMemory(pid) });
  }
  return measured;
}

/** The rows of docs/benchmarks.md. */
export function toolsTables({ loadBefore, tools, outputs }: ToolsMeasurement, { atOnce }: ToolsOptions): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
    [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
  const mb = (value: number) => value.toFixed(0);
  return [
    table(
      ['tool', `calls/s at ${atOnce}`, 'CPU ms a call', 'one at a time p50 / p99 ms', 'load before / other cores'],
      tools.map(({ tool, callsPerSecond, cpuMsACall, single, otherCores }) => [
        tool,
        callsPerSecond.toFixed(0),
        cpuMsACall.toFixed(2),
        `${single.p50.toFixed(1)} / ${single.p99.toFixed(1)}`,
        `${loadBefore.toFixed(1)} / ${otherCores.toFixed(2)}`,
      ]),
    ),
    table(
      ['output of one command', 'MB before / peak / after'],
      outputs.map(({ written, before, peak, after }) => [`${written} MB`, [before, peak, after].map(mb).join(' / ')]),
    ),
  ].join('\n\n');
}
