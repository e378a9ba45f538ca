import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '../connection/bus.js';
import { Bell } from './bell.js';
import { toEntry, type JournalEntry } from './journal-entry.js';
import { KeptEntries } from './kept-entries.js';
import { readJournal } from './read-journal.js';

/**
 * Milliseconds between two reads while the journal grows. A projection is behind by so much, and what a read, a transaction
 * and a publish cost is shared by all commits of that time.
 */
const PAUSE_MS = 50;
/** Milliseconds after which it looks again though no commit was announced: an announcement may be lost. */
const LOOK_AGAIN_MS = 1_000;
const READ_BATCH = 500;

/** How far somebody who reads along has come. */
export interface Reader {
  position: number;
}

/** The end of the journal as it grows, read and parsed once for everybody in this process who follows it. */
export class JournalTail {
  private readonly kept: KeptEntries;
  private readonly readers = new Set<Reader>();
  private readonly closing = new AbortController();
  private readonly running: Promise<void>;
  private grown = Promise.withResolvers<undefined>();
  private failure: Error | undefined;

  /** @param begin the stream sequence after which it begins */
  constructor(
    private readonly bus: Bus,
    begin: number,
  ) {
    this.kept = new KeptEntries(begin);
    this.running = this.run();
  }

  /** False: it is over. */
  join(reader: Reader): boolean {
    if (this.isOver) return false;
    this.readers.add(reader);
    return true;
  }

  /** The last one who leaves ends it, and waits until it has ended: the connection may go then. */
  async leave(reader: Reader): Promise<void> {
    this.readers.delete(reader);
    if (this.readers.size > 0) return;
    this.close(undefined);
    await this.running;
  }

  /** Entries after the reader's position; undefined where it does not reach so far back. */
  after({ position }: Reader, most: number): JournalEntry[] | undefined {
    return this.kept.after(position, most);
  }

  /**
   * Resolves when there may be something after the reader's position, or when the signal aborts.
   * @throws what reading failed with
   */
  async wait({ position }: Reader, signal: AbortSignal): Promise<void> {
    const wake = Promise.withResolvers<undefined>();
    const abort = () => {
      wake.resolve(undefined);
    };
    signal.addEventListener('abort', abort, { once: true });
    while (!signal.aborted && !this.isOver && this.kept.end <= position)
      await Promise.race([this.grown.promise, wake.promise]);
    signal.removeEventListener('abort', abort);
    if (this.failure !== undefined) throw this.failure;
  }

  private get isOver(): boolean {
    return this.closing.signal.aborted;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    let bell: Bell | undefined;
    try {
      while (!signal.aborted) {
        const { messages } = await readJournal(this.bus, { from: this.kept.end + 1, batch: READ_BATCH });
        if (messages.length > 0) {
          bell?.close();
          bell = undefined;
          this.add(messages.map(toEntry));
          if (messages.length < READ_BATCH) await sleep(PAUSE_MS, undefined, { signal });
        } else if (bell === undefined) {
          // One more look: a commit may have come before the bell was there.
          bell = new Bell(this.bus);
        } else {
          await bell.wait(LOOK_AGAIN_MS, signal);
          bell.close();
          bell = undefined;
        }
      }
    } catch (error) {
      if (!signal.aborted) this.close(error instanceof Error ? error : new Error(String(error)));
    } finally {
      bell?.close();
    }
  }

  private add(entries: readonly JournalEntry[]): void {
    this.kept.dropTo(Math.min(...[...this.readers].map(({ position }) => position)));
    this.kept.append(entries);
    const { grown } = this;
    this.grown = Promise.withResolvers();
    grown.resolve(undefined);
  }

  private close(failure: Error | undefined): void {
    this.failure = failure;
    this.closing.abort();
    this.grown.resolve(undefined);
  }
}
