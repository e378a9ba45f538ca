import type { HarnessEvent } from '@jetloop/contracts';
import { MAX_VALUE_BYTES } from './claim-check.js';

/** Events of a batch, and batches that may be on their way into the log at once. */
export const MAX_BATCH_EVENTS = 64;
export const MAX_BATCHES = 4;
/** Events beyond the batches on their way, and large ones on their way to the blob store, that are held in memory. */
const MAX_WAITING = 4 * MAX_BATCH_EVENTS;
const MAX_SHRINKING = 8;

export interface OutboxOptions {
  /** The worker sequence of the first event. */
  readonly from: number;
  /** Bytes of JSON that the events of one batch may have together. */
  readonly maxBytes: number;
  /** Milliseconds that events wait for others to go with them. */
  readonly batchMs: number;
  /** Makes an event small enough for a batch. */
  readonly shrink: (event: HarnessEvent) => Promise<HarnessEvent>;
  /** Resolves once the batch is stored in the inbox. `events`: JSON texts. */
  readonly publish: (from: number, events: readonly string[]) => Promise<void>;
  /** Whether the agent may be read any further. */
  readonly onFlow: (mayRead: boolean) => void;
  /** A batch could not be published: the attempt is lost. */
  readonly onFailure: (error: unknown) => void;
}

type Reject = (error: unknown) => void;

/**
 * The way of an attempt's events into the log: batches in order, at most 4 of them not yet seen there; while there are 4,
 * the agent is not read (spec 6.5).
 */
export class Outbox {
  private readonly waiting: (string | Promise<string>)[] = [];
  private shrinking = 0;
  /** Where each batch ends that was published and is not in the log yet. */
  private readonly unseen: number[] = [];
  private seen: number;
  private sent: number;
  private timer: NodeJS.Timeout | undefined;
  private sending = false;
  private failure: Error | undefined;
  private isClosed = false;
  private mayRead = true;
  private readonly watchers: { readonly upTo: number; readonly resolve: () => void; readonly reject: Reject }[] = [];

  constructor(private readonly options: OutboxOptions) {
    this.seen = options.from;
    this.sent = options.from;
  }

  /** Takes events; `urgent`: somebody waits for them to be in the log. */
  push(events: readonly HarnessEvent[], urgent = false): void {
    if (events.length === 0) return;
    for (const event of events) this.waiting.push(this.textOf(event));
    if (urgent || this.waiting.length >= MAX_BATCH_EVENTS) this.send();
    else
      this.timer ??= setTimeout(() => {
        this.send();
      }, this.options.batchMs);
  }

  /** The worker sequence behind the last event that was pushed. */
  get next(): number {
    return this.sent + this.waiting.length;
  }

  /** Told how far the log holds this attempt's events (the worker sequence that comes next there). */
  see(next: number): void {
    this.seen = Math.max(this.seen, next);
    while (this.unseen[0] !== undefined && this.unseen[0] <= this.seen) this.unseen.shift();
    for (const watcher of this.watchers.filter(({ upTo }) => upTo <= this.seen)) {
      this.watchers.splice(this.watchers.indexOf(watcher), 1);
      watcher.resolve();
    }
    if (this.timer === undefined) this.send();
    this.reflow();
  }

  /** Resolves once everything pushed so far is in the log. @throws what kept a batch from being stored */
  inLog(): Promise<void> {
    const upTo = this.next;
    if (upTo <= this.seen) return Promise.resolve();
    if (this.failure) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      this.watchers.push({ upTo, resolve, reject });
      this.send();
    });
  }

  close(): void {
    clearTimeout(this.timer);
    this.isClosed = true;
  }

  private textOf(event: HarnessEvent): string | Promise<string> {
    const text = JSON.stringify(event);
    if (text.length * 3 <= MAX_VALUE_BYTES || Buffer.byteLength(text) <= MAX_VALUE_BYTES) return text;
    this.shrinking++;
    const shrunk = this.options
      .shrink(event)
      .then((small) => JSON.stringify(small))
      .finally(() => {
        this.shrinking--;
      });
    // Whoever sends it meets the failure; until then it must not count as one that nobody looks at.
    shrunk.catch(() => undefined);
    return shrunk;
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.reflow();
    if (this.sending || this.isOver()) return;
    this.sending = true;
    void this.sendAll();
  }

  private async sendAll(): Promise<void> {
    try {
      while (this.waiting.length > 0 && this.unseen.length < MAX_BATCHES && !this.isOver()) {
        const batch = await this.nextBatch();
        const from = this.sent;
        void this.waiting.splice(0, batch.length);
        this.sent += batch.length;
        this.reflow();
        this.unseen.push(this.sent);
        await this.options.publish(from, batch);
      }
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
      for (const { reject } of this.watchers.splice(0)) reject(this.failure);
      this.options.onFailure(error);
    } finally {
      // Together with the look at what waits: an event that comes in between would be left behind.
      this.sending = false;
      this.reflow();
    }
  }

  private isOver(): boolean {
    return this.isClosed || this.failure !== undefined;
  }

  private async nextBatch(): Promise<string[]> {
    const batch: string[] = [];
    let size = 0;
    for (const text of this.waiting.slice(0, MAX_BATCH_EVENTS)) {
      const one = await text;
      size += Buffer.byteLength(one) + 1;
      if (batch.length > 0 && size > this.options.maxBytes) break;
      batch.push(one);
    }
    return batch;
  }

  private reflow(): void {
    const mayRead =
      this.unseen.length < MAX_BATCHES && this.waiting.length < MAX_WAITING && this.shrinking < MAX_SHRINKING;
    if (mayRead === this.mayRead) return;
    this.mayRead = mayRead;
    this.options.onFlow(mayRead);
  }
}
