import type { Commit } from '@jetloop/contracts';
import type { Bus } from '../connection/bus.js';
import { decodeCommit } from './journal.js';
import { readJournal, type StoredMessage } from './read-journal.js';

/** A message of JOURNAL, with its commit or with what is wrong with it. */
export type JournalEntry = StoredMessage & ({ readonly commit: Commit } | { readonly problem: string });

export interface FollowOptions {
  /** Entries of one batch at most. */
  readonly maxBatch: number;
  readonly signal: AbortSignal;
}

/** Milliseconds after which it looks again though no commit was announced: an announcement may be lost. */
const LOOK_AGAIN_MS = 1_000;

/** Wakes a reader; a ring before it waits counts too. */
class Bell {
  private rung = false;
  private wake: (() => void) | undefined;

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  reset(): void {
    this.rung = false;
  }

  async wait(milliseconds: number): Promise<void> {
    if (this.rung) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Reads the whole journal in order from a position, for projections that keep the position themselves. */
export class JournalFollower {
  constructor(private readonly bus: Bus) {}

  /**
   * Entries after `from` (a stream sequence; 0 for all), oldest first, in batches that are never empty. Waits for new
   * ones and ends when the signal aborts. A failing read is thrown: call again with the position that was reached.
   */
  async *follow(from: number, { maxBatch, signal }: FollowOptions): AsyncGenerator<JournalEntry[]> {
    let position = from;
    const bell = new Bell();
    const ring = () => {
      bell.ring();
    };
    const feed = this.bus.nats.subscribe('feed.>', { callback: ring });
    signal.addEventListener('abort', ring);
    try {
      while (!signal.aborted) {
        bell.reset();
        const { messages } = await readJournal(this.bus, { from: position + 1, filter: 'log.>', batch: maxBatch });
        const last = messages.at(-1);
        if (last) {
          position = last.streamSequence;
          yield messages.map(decoded);
        } else {
          await bell.wait(LOOK_AGAIN_MS);
        }
      }
    } finally {
      signal.removeEventListener('abort', ring);
      feed.unsubscribe();
    }
  }

  /** First and last stream sequence of the journal, and when it was created (RFC 3339). */
  async bounds(): Promise<{ first: number; last: number; created: string }> {
    const { state, created } = await this.bus.api<{ state: { first_seq: number; last_seq: number }; created: string }>(
      'STREAM.INFO.JOURNAL',
    );
    return { first: state.first_seq, last: state.last_seq, created };
  }
}

function decoded(message: StoredMessage): JournalEntry {
  try {
    return { ...message, commit: decodeCommit(message.raw) };
  } catch (error) {
    return { ...message, problem: error instanceof Error ? error.message : String(error) };
  }
}
