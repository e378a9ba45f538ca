import { JSONCodec, type KV, type KvEntry } from 'nats';
import type { Bus } from '../connection/bus.js';
import { PublishRefusedError } from '../errors.js';

export interface Entry {
  readonly revision: number;
  readonly value: unknown;
}

const codec = JSONCodec();
/** "wrong last sequence", on one server and on a cluster. */
const LOST: ReadonlySet<number> = new Set([10071, 10164]);

/** A KV bucket of JSON values, held in memory and kept current by a watch. */
export class WatchedBucket {
  private readonly current = new Map<string, Entry>();
  /** Revisions by key; a removed one keeps its own, so that an older update cannot bring it back. */
  private readonly seen = new Map<string, number>();
  private readonly listeners = new Set<() => void>();
  private stopWatch: (() => void) | undefined;

  private constructor(
    private readonly bus: Bus,
    private readonly bucket: string,
    private readonly kv: KV,
  ) {}

  /** Opens the bucket and waits for its first full snapshot. */
  static async open(bus: Bus, bucket: 'AGENTS' | 'POLICIES' | 'COOLDOWNS'): Promise<WatchedBucket> {
    const kv = await bus.nats.jetstream().views.kv(bucket, { bindOnly: true, allow_direct: bucket !== 'COOLDOWNS' });
    const opened = new WatchedBucket(bus, bucket, kv);
    await opened.watch();
    return opened;
  }

  entries(): ReadonlyMap<string, Entry> {
    return this.current;
  }

  /** @returns a function that ends it */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  /** Stores a value and returns its revision; our own view has it when this resolves. */
  async put(key: string, value: unknown): Promise<number> {
    const revision = await this.kv.put(key, codec.encode(value));
    this.see(key, revision, { revision, value });
    return revision;
  }

  /**
   * Stores a value only where the key still has this revision (0: none was ever stored).
   * @returns the new revision; undefined where another was quicker: our own view then has what that one stored
   */
  async replace(key: string, value: unknown, expected: number): Promise<number | undefined> {
    const revision = await this.publish(key, codec.encode(value), expected);
    if (revision !== undefined) this.see(key, revision, { revision, value });
    return revision;
  }

  async remove(key: string): Promise<void> {
    await this.kv.delete(key);
    this.see(key, this.revisionOf(key), undefined);
  }

  /** Removes a key only where it still has this revision; whether it did. */
  async removeAt(key: string, expected: number): Promise<boolean> {
    const revision = await this.publish(key, new Uint8Array(), expected, { 'KV-Operation': 'DEL' });
    if (revision !== undefined) this.see(key, revision, undefined);
    return revision !== undefined;
  }

  /** Revision of the last thing that was seen of a key, its removal included; 0: nothing. */
  revisionOf(key: string): number {
    return this.seen.get(key) ?? 0;
  }

  close(): void {
    this.stopWatch?.();
  }

  private async publish(
    key: string,
    body: Uint8Array,
    expected: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number | undefined> {
    try {
      const { sequence } = await this.bus.publisher.publish(`$KV.${this.bucket}.${key}`, body, {
        ...headers,
        'Nats-Expected-Last-Subject-Sequence': String(expected),
      });
      return sequence;
    } catch (error) {
      if (!(error instanceof PublishRefusedError) || !LOST.has(error.code)) throw error;
      await this.refresh(key);
      return undefined;
    }
  }

  private async refresh(key: string): Promise<void> {
    const entry = await this.kv.get(key);
    if (entry) {
      this.see(key, entry.revision, valueOf(entry));
    } else {
      this.seen.delete(key);
      this.see(key, 0, undefined);
    }
  }

  private async watch(): Promise<void> {
    let ready: (() => void) | undefined;
    const snapshot = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const watch = await this.kv.watch({ initializedFn: () => ready?.() });
    this.stopWatch = () => {
      watch.stop();
    };
    void (async () => {
      for await (const entry of watch) {
        if (entry.revision > this.revisionOf(entry.key)) this.see(entry.key, entry.revision, valueOf(entry));
      }
    })();
    await snapshot;
  }

  private see(key: string, revision: number, entry: Entry | undefined): void {
    if (this.revisionOf(key) > revision) return;
    this.seen.set(key, revision);
    if (entry) this.current.set(key, entry);
    else this.current.delete(key);
    for (const listener of this.listeners) listener();
  }
}

/** What is no JSON counts as nothing: a reader of the bucket must not die of it. */
function valueOf(entry: KvEntry): Entry | undefined {
  if (entry.operation !== 'PUT') return undefined;
  try {
    return { revision: entry.revision, value: entry.json() };
  } catch {
    return undefined; // written by hand, and by nobody of ours
  }
}
