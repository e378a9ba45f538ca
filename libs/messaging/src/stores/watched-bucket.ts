import type { KV } from 'nats';
import type { Bus } from '../connection/bus.js';

export interface Entry {
  readonly revision: number;
  readonly value: unknown;
}

/** A KV bucket of JSON values, held in memory and kept current by a watch. */
export class WatchedBucket {
  private readonly current = new Map<string, Entry>();
  private readonly listeners = new Set<() => void>();
  private stopWatch: (() => void) | undefined;

  private constructor(private readonly kv: KV) {}

  /** Opens the bucket and waits for its first full snapshot. */
  static async open(bus: Bus, bucket: 'AGENTS' | 'POLICIES' | 'COOLDOWNS'): Promise<WatchedBucket> {
    const kv = await bus.nats.jetstream().views.kv(bucket, { bindOnly: true, allow_direct: bucket !== 'COOLDOWNS' });
    const opened = new WatchedBucket(kv);
    await opened.watch();
    return opened;
  }

  entries(): ReadonlyMap<string, Entry> {
    return this.current;
  }

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Stores a value and returns its revision; our own view has it when this resolves. */
  async put(key: string, value: unknown): Promise<number> {
    const revision = await this.kv.put(key, JSON.stringify(value));
    this.set(key, { revision, value });
    return revision;
  }

  async remove(key: string): Promise<void> {
    await this.kv.delete(key);
    this.set(key, undefined);
  }

  close(): void {
    this.stopWatch?.();
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
        const known = this.current.get(entry.key);
        if (known && known.revision >= entry.revision) continue;
        this.set(entry.key, entry.operation === 'PUT' ? { revision: entry.revision, value: entry.json() } : undefined);
      }
    })();
    await snapshot;
  }

  private set(key: string, entry: Entry | undefined): void {
    if (entry) this.current.set(key, entry);
    else this.current.delete(key);
    for (const listener of this.listeners) listener();
  }
}
