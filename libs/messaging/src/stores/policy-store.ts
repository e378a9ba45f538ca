import { WatchedBucket, type Entry } from './watched-bucket.js';
import type { Bus } from '../connection/bus.js';

/** Policy sets of the bucket POLICIES, by name; a change is seen without a restart. */
export class PolicyStore {
  private constructor(private readonly bucket: WatchedBucket) {}

  static async open(bus: Bus): Promise<PolicyStore> {
    return new PolicyStore(await WatchedBucket.open(bus, 'POLICIES'));
  }

  sets(): ReadonlyMap<string, Entry> {
    return this.bucket.entries();
  }

  onChange(listener: () => void): void {
    this.bucket.onChange(listener);
  }

  put(name: string, value: unknown): Promise<number> {
    return this.bucket.put(name, value);
  }

  remove(name: string): Promise<void> {
    return this.bucket.remove(name);
  }

  close(): void {
    this.bucket.close();
  }
}
