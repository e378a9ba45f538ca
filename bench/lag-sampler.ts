import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from './statistics.ts';

const SAMPLE_MS = 200;

interface Sample {
  readonly at: number;
  readonly head: number;
  readonly position: number;
}

export interface Lag {
  /** Milliseconds by which SQL was behind the journal while the load ran. */
  readonly p50: number;
  readonly max: number;
}

/** Looks several times a second how far SQL has followed the journal. */
export class LagSampler {
  private readonly samples: Sample[] = [];
  private running = true;
  private readonly done: Promise<void>;

  constructor(head: () => Promise<number>, position: () => Promise<number>) {
    this.done = this.sample(head, position);
  }

  async stop(): Promise<Lag> {
    this.running = false;
    await this.done;
    const lags = this.samples.map((sample) => sample.at - this.whenReached(sample.position, sample.at));
    return { p50: quantile(lags, 0.5), max: Math.max(...lags) };
  }

  private async sample(head: () => Promise<number>, position: () => Promise<number>): Promise<void> {
    while (this.running) {
      const [first, second] = await Promise.all([head(), position()]);
      this.samples.push({ at: performance.now(), head: first, position: second });
      await sleep(SAMPLE_MS);
    }
  }

  /** When the journal ended where SQL is now: between two samples it grew evenly. */
  private whenReached(position: number, now: number): number {
    const after = this.samples.findIndex(({ head }) => head > position);
    const [left, right] = [this.samples[after - 1], this.samples[after]];
    if (!left || !right) return after === -1 ? now : (right?.at ?? now);
    const part = Math.max(0, (position - left.head) / (right.head - left.head));
    return Math.min(now, left.at + (right.at - left.at) * part);
  }
}
