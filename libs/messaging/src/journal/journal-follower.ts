import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '../connection/bus.js';
import { toEntry, type JournalEntry } from './journal-entry.js';
import { JournalTail, type Reader } from './journal-tail.js';
import { readJournal } from './read-journal.js';

export interface FollowOptions {
  /** Entries of one batch at most. */
  readonly maxBatch: number;
  readonly signal: AbortSignal;
}

/** Milliseconds after which a replica is asked again that does not have yet what the leader has. */
const STALE_MS = 200;

/**
 * Reads the whole journal in order from a position, for projections that keep the position themselves. Who has caught up
 * shares one reader of the journal's end with all others of this process; who has not reads on their own until then, at
 * their own speed.
 */
export class JournalFollower {
  private tail: Promise<JournalTail> | undefined;

  constructor(private readonly bus: Bus) {}

  /**
   * Entries after `from` (a stream sequence; 0 for all), oldest first, in batches that are never empty. Waits for new
   * ones and ends when the signal aborts. A commit comes at most some 50 ms after it was stored, with all others of that
   * time. A failing read is thrown: call again with the position that was reached.
   */
  async *follow(from: number, { maxBatch, signal }: FollowOptions): AsyncGenerator<JournalEntry[]> {
    const reader = { position: from };
    const tail = await this.join(reader);
    try {
      while (!signal.aborted) {
        const kept = tail.after(reader, maxBatch);
        const batch = kept ?? (await this.read(reader.position, maxBatch));
        const last = batch.at(-1);
        if (last) {
          // Only now: what is handed out is kept until it has been worked off.
          yield batch;
          reader.position = last.streamSequence;
        } else if (kept) await tail.wait(reader, signal);
        else await sleep(STALE_MS);
      }
    } finally {
      await tail.leave(reader);
    }
  }

  /** First and last stream sequence of the journal, and when it was created (RFC 3339). */
  async bounds(): Promise<{ first: number; last: number; created: string }> {
    const { state, created } = await this.bus.api<{ state: { first_seq: number; last_seq: number }; created: string }>(
      'STREAM.INFO.JOURNAL',
    );
    return { first: state.first_seq, last: state.last_seq, created };
  }

  /** Commits after a position, and seconds since the first of them was stored; 0 and 0 at the journal's end. */
  async behind(position: number): Promise<{ commits: number; seconds: number }> {
    const { messages, pending } = await readJournal(this.bus, { from: position + 1, batch: 1 });
    const [next] = messages;
    if (!next) return { commits: 0, seconds: 0 };
    const age = Date.now() - Date.parse(next.storedAt ?? '');
    return { commits: 1 + pending, seconds: Math.max(0, age) / 1_000 };
  }

  /** Joins the tail that is there; opens one where there is none, or it is over. */
  private async join(reader: Reader): Promise<JournalTail> {
    for (;;) {
      const known = (this.tail ??= this.bounds().then(({ last }) => new JournalTail(this.bus, last)));
      try {
        const tail = await known;
        if (tail.join(reader)) return tail;
      } catch (error) {
        if (this.tail === known) this.tail = undefined;
        throw error;
      }
      if (this.tail === known) this.tail = undefined;
    }
  }

  private async read(position: number, batch: number): Promise<JournalEntry[]> {
    return (await readJournal(this.bus, { from: position + 1, batch })).messages.map(toEntry);
  }
}
