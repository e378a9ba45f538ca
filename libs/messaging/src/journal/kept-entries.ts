import type { JournalEntry } from './journal-entry.js';

/** Bounds of what is kept, and of one batch: contents may be large. */
const MOST_ENTRIES = 2_000;
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_BYTES_OF_BATCH = 4 * 1024 * 1024;

/** The newest entries of the journal, all of those between two stream sequences. */
export class KeptEntries {
  private entries: JournalEntry[] = [];
  private bytes = 0;
  private last: number;

  /** @param begin the stream sequence after which they begin */
  constructor(private begin: number) {
    this.last = begin;
  }

  /** Stream sequence of the newest one. */
  get end(): number {
    return this.last;
  }

  /** Adds what follows. */
  append(entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      this.entries.push(entry);
      this.bytes += entry.raw.length;
      this.last = entry.streamSequence;
    }
    this.drop((_, left) => left > MOST_ENTRIES || this.bytes > MOST_BYTES);
  }

  /** Drops what nobody needs any more: up to a stream sequence. */
  dropTo(streamSequence: number): void {
    this.drop((entry) => entry.streamSequence <= streamSequence);
  }

  /**
   * The entries after a stream sequence, oldest first, at most `most` and, from the second on, 4 MiB; undefined when some of
   * them are not kept any more.
   */
  after(streamSequence: number, most: number): JournalEntry[] | undefined {
    if (streamSequence < this.begin) return undefined;
    const first = this.entries.findIndex((entry) => entry.streamSequence > streamSequence);
    if (first === -1) return [];
    const batch: JournalEntry[] = [];
    let bytes = 0;
    for (const entry of this.entries.slice(first, first + most)) {
      bytes += entry.raw.length;
      if (bytes > MOST_BYTES_OF_BATCH && batch.length > 0) break;
      batch.push(entry);
    }
    return batch;
  }

  private drop(isOut: (entry: JournalEntry, left: number) => boolean): void {
    let count = 0;
    for (const entry of this.entries) {
      if (!isOut(entry, this.entries.length - count)) break;
      this.bytes -= entry.raw.length;
      this.begin = entry.streamSequence;
      count += 1;
    }
    if (count > 0) this.entries = this.entries.slice(count);
  }
}
