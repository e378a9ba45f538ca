import { cpuSeconds, familyCpuSeconds, machineCpuSeconds, writtenBytes } from './process-usage.ts';
import type { Projection } from './projection.ts';
import { streamCounts, type StreamCounts } from './stream-counts.ts';
import type { BenchSystem } from './system.ts';

/** Counters at one moment; a figure is the difference of two. */
export interface Snapshot {
  /** Seconds of CPU by process. */
  readonly cpu: ReadonlyMap<string, number>;
  readonly machineCpu: number;
  readonly natsWritten: number;
  readonly walBytes: number;
  readonly streams: StreamCounts;
}

export interface Stored {
  readonly messagesAStep: StreamCounts['messages'];
  /** Bytes that stay in the streams. */
  readonly bytesAStep: StreamCounts['bytes'];
  /** Bytes that nats-server wrote to storage, and bytes of Postgres' write-ahead log. */
  readonly writtenAStep: { readonly nats: number; readonly wal: number };
}

export async function takeSnapshot(
  { natsPid, postgresPid, bus }: BenchSystem,
  projection: Projection,
  pids: ReadonlyMap<string, number>,
): Promise<Snapshot> {
  const [single, postgres, machineCpu, natsWritten, walBytes, streams] = await Promise.all([
    Promise.all([...pids].map(async ([name, pid]) => [name, await cpuSeconds(pid)] as const)),
    familyCpuSeconds(postgresPid),
    machineCpuSeconds(),
    writtenBytes(natsPid),
    projection.walBytes(),
    streamCounts(bus),
  ]);
  return { cpu: new Map([...single, ['postgres', postgres]]), machineCpu, natsWritten, walBytes, streams };
}

export function storedAStep(before: Snapshot, after: Snapshot, steps: number): Stored {
  const [from, to] = [before.streams, after.streams];
  const each = <K extends string>(first: Record<K, number>, second: Record<K, number>, keys: readonly K[]) =>
    keys.map((key) => (second[key] - first[key]) / steps);
  const [journal = 0, commands = 0, events = 0, blobs = 0] = each(from.messages, to.messages, [
    'journal',
    'commands',
    'events',
    'blobs',
  ]);
  const [journalBytes = 0, eventsBytes = 0, blobsBytes = 0] = each(from.bytes, to.bytes, [
    'journal',
    'events',
    'blobs',
  ]);
  return {
    messagesAStep: { journal, commands, events, blobs },
    bytesAStep: { journal: journalBytes, events: eventsBytes, blobs: blobsBytes },
    writtenAStep: {
      nats: (after.natsWritten - before.natsWritten) / steps,
      wal: (after.walBytes - before.walBytes) / steps,
    },
  };
}
