import { z } from 'zod';
import { WatchedBucket } from './watched-bucket.js';
import type { Bus } from '../connection/bus.js';

/** A model target that rests, for all replicas. */
export interface Cooldown {
  /** Milliseconds since the epoch at which the rest, or the probe, is over. */
  readonly until: number;
  /** The error that set it. */
  readonly code: string;
  /** Somebody tries whether the target answers again. */
  readonly isProbed: boolean;
  readonly revision: number;
}

const cooldownSchema = z.object({
  until: z.iso.datetime(),
  code: z.string(),
  probing: z.string().optional(),
});

/** Resting model targets of the bucket COOLDOWNS, by target; every replica sees a change at once. */
export class CooldownStore {
  private constructor(private readonly bucket: WatchedBucket) {}

  static async open(bus: Bus): Promise<CooldownStore> {
    return new CooldownStore(await WatchedBucket.open(bus, 'COOLDOWNS'));
  }

  /** The entry of a target, also one that is over; undefined: there is none. */
  find(target: string): Cooldown | undefined {
    const entry = this.bucket.entries().get(keyOf(target));
    const parsed = cooldownSchema.safeParse(entry?.value);
    if (!entry || !parsed.success) return undefined;
    const { until, code, probing } = parsed.data;
    return { until: Date.parse(until), code, isProbed: probing !== undefined, revision: entry.revision };
  }

  /** Lets a target rest; of two rests the longer one stands, and a probe ends by a rest. */
  async rest(target: string, until: number, code: string): Promise<void> {
    for (;;) {
      const known = this.find(target);
      if (known && !known.isProbed && known.until >= until) return;
      const value = { until: new Date(until).toISOString(), code };
      const key = keyOf(target);
      if ((await this.bucket.replace(key, value, this.bucket.revisionOf(key))) !== undefined) return;
    }
  }

  /**
   * Replaces an entry that is over by a probe: of all who try, one replica wins.
   * @returns the revision of the probe; undefined where another was quicker
   */
  async probe(target: string, over: Cooldown, by: string, until: number): Promise<number | undefined> {
    const value = { until: new Date(until).toISOString(), code: over.code, probing: by };
    return this.bucket.replace(keyOf(target), value, over.revision);
  }

  /** Removes the probe of this revision: the target answers again. Whatever came after it stays. */
  async end(target: string, revision: number): Promise<void> {
    await this.bucket.removeAt(keyOf(target), revision);
  }

  /** @returns a function that ends it */
  onChange(listener: () => void): () => void {
    return this.bucket.onChange(listener);
  }

  close(): void {
    this.bucket.close();
  }
}

/** A target may have any name, a key may not: every byte that a key cannot hold becomes `=` and two hex digits. */
function keyOf(target: string): string {
  return target.replaceAll(/[^A-Za-z0-9_-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `=${byte.toString(16).padStart(2, '0')}`).join(''),
  );
}
