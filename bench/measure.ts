import { loadavg } from 'node:os';
import { startClient, type ClientProcess } from './client-process.ts';
import { DecisionTimes, type DecisionReport } from './decision-times.ts';
import { LagSampler, type Lag } from './lag-sampler.ts';
import { MemorySampler } from './memory-sampler.ts';
import type { BenchOptions, Sync } from './options.ts';
import { peakMemory, resetPeak } from './process-usage.ts';
import { Projection } from './projection.ts';
import { readProfile, type Profile } from './profile.ts';
import { quantile } from './statistics.ts';
import { storedAStep, takeSnapshot, type Stored } from './snapshot.ts';
import { startSystem, type BenchSystem } from './system.ts';
import { STEPS } from './workload.ts';

/** One run, all figures. Times in milliseconds unless they say otherwise. */
export interface Measurement {
  readonly sessions: number;
  readonly sync: Sync;
  readonly turns: number;
  readonly steps: number;
  readonly seconds: number;
  readonly stepsPerSecond: number;
  readonly stepMs: { readonly p50: number; readonly p99: number };
  readonly turnMs: { readonly p50: number; readonly p99: number };
  /** CPU (milliseconds a step) and memory (MiB at the peak) of each process. */
  readonly processes: Readonly<Record<string, { readonly cpuMsAStep: number; readonly peakMb: number }>>;
  /** From a question in COMMANDS to its answer there; only with policies. */
  readonly policies?: DecisionReport;
  readonly stored: Stored;
  readonly projection: Lag & { readonly caughtUpMs: number; readonly unfoldedMs: number };
  /** The machine: its load average before the run, and the cores that others used during it. */
  readonly noise: { readonly loadBefore: number; readonly otherCores: number };
  /** Log lines of the services at warning or above. */
  readonly complaints: readonly string[];
  readonly profile?: Profile;
}

/** Turns of the measured part, by how many sessions run at once: some seconds each. */
function turnsOf(sessions: number): number {
  return Math.max(100, sessions * (sessions >= 256 ? 2 : 8));
}

export interface Run {
  readonly sync: Sync;
  readonly sessions: number;
  readonly signal: AbortSignal;
}

/** One run on a fresh store. */
export async function measure(options: BenchOptions, run: Run): Promise<Measurement> {
  const [loadBefore = 0] = loadavg();
  const system = await startSystem(options, run.sync);
  try {
    run.signal.throwIfAborted();
    const measured = await measureOn(system, run, options.think > 0);
    const { window, otherCores, ...figures } = measured;
    const measurement = { ...figures, noise: { loadBefore, otherCores } };
    if (options.profile === undefined) return measurement;
    await system.stopServices();
    return { ...measurement, profile: await readProfile(system.profileFile, window) };
  } catch (error) {
    throw withComplaints(error, system);
  } finally {
    await system.stop();
  }
}

async function measureOn(system: BenchSystem, run: Run, thinks: boolean) {
  const projection = new Projection(system.bus, system.databaseUrl);
  try {
    const { natsUrl, workspace } = system;
    const { sessions, signal } = run;
    const task = { natsUrl, workspace, sessions, thinks, turns: turnsOf(sessions) };
    const client = await startClient(task, signal);
    try {
      return await measureLoad(system, run, projection, client);
    } finally {
      await client.stop();
    }
  } finally {
    await projection.close();
  }
}

async function measureLoad(
  system: BenchSystem,
  { sync, sessions }: Run,
  projection: Projection,
  client: ClientProcess,
) {
  await projection.caughtUp();
  await projection.unfolded();
  const pids = new Map([
    ['client', client.pid],
    ['nats-server', system.natsPid],
    ...system.services.map(({ name, pid }) => [name, pid] as const),
  ]);
  await Promise.all([...pids.values()].map(resetPeak));
  const before = await takeSnapshot(system, projection, pids);
  const { report, memory, lag, window, policies } = await sampled(system, projection, client);
  const after = await takeSnapshot(system, projection, pids);
  const caughtUpMs = await projection.caughtUp();
  const unfoldedMs = await projection.unfolded();
  const settled = await takeSnapshot(system, projection, pids);
  const steps = report.turns * STEPS;
  const peaks = new Map([['postgres', memory]]);
  for (const [name, pid] of pids) peaks.set(name, await peakMemory(pid));
  const cpu = [...after.cpu].map(([name, value]) => [name, value - (before.cpu.get(name) ?? 0)] as const);
  const ours = cpu.reduce((sum, [, seconds]) => sum + seconds, 0);
  return {
    sessions,
    sync,
    turns: report.turns,
    steps,
    seconds: report.seconds,
    stepsPerSecond: steps / report.seconds,
    stepMs: spread(report.stepMs),
    turnMs: spread(report.turnMs),
    processes: Object.fromEntries(
      cpu.map(([name, seconds]) => [name, { cpuMsAStep: (seconds * 1_000) / steps, peakMb: peaks.get(name) ?? NaN }]),
    ),
    ...(policies && { policies }),
    stored: storedAStep(before, settled, steps),
    projection: { ...lag, caughtUpMs, unfoldedMs },
    otherCores: Math.max(0, after.machineCpu - before.machineCpu - ours) / report.seconds,
    complaints: complaintsOf(system),
    window,
  };
}

/** The load itself, while memory and lag are looked at. */
async function sampled(system: BenchSystem, projection: Projection, client: ClientProcess) {
  const memory = new MemorySampler(system.postgresPid);
  const lag = new LagSampler(projection.head, projection.position);
  const decisions = new DecisionTimes(system.bus);
  try {
    const start = monotonicMicroseconds();
    const report = await client.go();
    const window = { start, end: monotonicMicroseconds() };
    return { report, window, memory: memory.stop(), lag: await lag.stop(), policies: decisions.stop() };
  } catch (error) {
    memory.stop();
    decisions.stop();
    await lag.stop();
    throw error;
  }
}

function complaintsOf({ services }: BenchSystem): string[] {
  return services.flatMap(({ name, complaints }) => complaints.map((line) => `${name}: ${line}`));
}

function withComplaints(cause: unknown, system: BenchSystem): Error {
  const message = cause instanceof Error ? cause.message : String(cause);
  const complaints = complaintsOf(system);
  const some = complaints.slice(0, 3).map((line) => line.slice(0, 400));
  return new Error([message, `The services logged ${complaints.length} complaints.`, ...some].join('\n'), { cause });
}

function spread(values: readonly number[]): { p50: number; p99: number } {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) };
}

/** The clock that V8's profiles use. */
function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
