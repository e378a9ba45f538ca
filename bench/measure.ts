import { loadavg } from 'node:os';
import { startClient } from './client-process.ts';
import { LagSampler, type Lag } from './lag-sampler.ts';
import { MemorySampler } from './memory-sampler.ts';
import type { BenchOptions, Sync } from './options.ts';
import {
  cpuSeconds,
  familyCpuSeconds,
  familyWrittenBytes,
  machineCpuSeconds,
  peakMemory,
  resetPeak,
  writtenBytes,
} from './process-usage.ts';
import { Projection } from './projection.ts';
import { readProfile, type Profile } from './profile.ts';
import { quantile } from './statistics.ts';
import { streamCounts, type StreamCounts } from './stream-counts.ts';
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
  readonly stored: {
    readonly messagesAStep: StreamCounts['messages'];
    readonly bytesAStep: StreamCounts['bytes'];
    /** Bytes written to storage a step: what JetStream and Postgres make of it. */
    readonly writtenAStep: { readonly nats: number; readonly postgres: number };
  };
  readonly projection: Lag & { readonly caughtUpMs: number; readonly unfoldedMs: number };
  /** The machine: its load average before the run, and the cores that others used during it. */
  readonly noise: { readonly loadBefore: number; readonly otherCores: number };
  /** Log lines of the services at warning or above. */
  readonly complaints: readonly string[];
  readonly profile?: Profile;
}

interface Snapshot {
  readonly cpu: ReadonlyMap<string, number>;
  readonly machine: number;
  readonly written: { readonly nats: number; readonly postgres: number };
  readonly streams: StreamCounts;
}

const WARM_TURNS = 64;
/** Turns of the measured part, by how many sessions run at once: some seconds each. */
function turnsOf(sessions: number): number {
  return Math.max(60, sessions * (sessions >= 256 ? 2 : 4));
}

/** One run on a fresh store. */
export async function measure(options: BenchOptions, sync: Sync, sessions: number): Promise<Measurement> {
  const [loadBefore = 0] = loadavg();
  const system = await startSystem(options, sync);
  try {
    const measured = await measureOn(system, sync, sessions);
    const { window, ...measurement } = { ...measured, noise: { ...measured.noise, loadBefore } };
    if (options.profile === undefined) return measurement;
    await system.stopServices();
    return { ...measurement, profile: await readProfile(system.profileFile, window) };
  } catch (error) {
    throw withComplaints(error, system);
  } finally {
    await system.stop();
  }
}

async function measureOn(system: BenchSystem, sync: Sync, sessions: number) {
  const turns = turnsOf(sessions);
  const { natsUrl, workspace, bus } = system;
  const projection = new Projection(bus, system.databaseUrl);
  const client = await startClient({ natsUrl, workspace, sessions, warmTurns: WARM_TURNS, turns });
  try {
    await projection.caughtUp();
    await projection.unfolded();
    const pids = new Map([
      ['client', client.pid],
      ['nats-server', system.natsPid],
      ...system.services.map(({ name, pid }) => [name, pid] as const),
    ]);
    await Promise.all([...pids.values()].map(resetPeak));
    const memory = new MemorySampler(system.postgresPid);
    const lag = new LagSampler(projection.head, projection.position);
    const before = await snapshot(system, pids);
    const windowStart = monotonicMicroseconds();
    const report = await client.go();
    const windowEnd = monotonicMicroseconds();
    const after = await snapshot(system, pids);
    const behind = await lag.stop();
    const caughtUpMs = await projection.caughtUp();
    const unfoldedMs = await projection.unfolded();
    const settled = await snapshot(system, pids);
    const steps = report.turns * STEPS;
    const peaks = new Map(
      await Promise.all([...pids].map(async ([name, pid]) => [name, await peakMemory(pid)] as const)),
    );
    peaks.set('postgres', memory.stop());
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
      stored: storedAStep(before, settled, steps),
      projection: { ...behind, caughtUpMs, unfoldedMs },
      noise: { loadBefore: 0, otherCores: Math.max(0, after.machine - before.machine - ours) / report.seconds },
      complaints: complaintsOf(system),
      window: { start: windowStart, end: windowEnd },
    };
  } finally {
    await client.stop();
    await projection.close();
  }
}

async function snapshot(system: BenchSystem, pids: ReadonlyMap<string, number>): Promise<Snapshot> {
  const { natsPid, postgresPid, bus } = system;
  const [single, postgres, machine, natsWritten, postgresWritten, streams] = await Promise.all([
    Promise.all([...pids].map(async ([name, pid]) => [name, await cpuSeconds(pid)] as const)),
    familyCpuSeconds(postgresPid),
    machineCpuSeconds(),
    writtenBytes(natsPid),
    familyWrittenBytes(postgresPid),
    streamCounts(bus),
  ]);
  const written = { nats: natsWritten, postgres: postgresWritten };
  return { cpu: new Map([...single, ['postgres', postgres]]), machine, written, streams };
}

function storedAStep(before: Snapshot, after: Snapshot, steps: number): Measurement['stored'] {
  const [from, to] = [before.streams, after.streams];
  return {
    messagesAStep: {
      journal: (to.messages.journal - from.messages.journal) / steps,
      commands: (to.messages.commands - from.messages.commands) / steps,
      events: (to.messages.events - from.messages.events) / steps,
      blobs: (to.messages.blobs - from.messages.blobs) / steps,
    },
    bytesAStep: {
      journal: (to.bytes.journal - from.bytes.journal) / steps,
      events: (to.bytes.events - from.bytes.events) / steps,
      blobs: (to.bytes.blobs - from.bytes.blobs) / steps,
    },
    writtenAStep: {
      nats: (after.written.nats - before.written.nats) / steps,
      postgres: (after.written.postgres - before.written.postgres) / steps,
    },
  };
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
