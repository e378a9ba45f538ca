import type { JournalEntry } from '@jetloop/messaging';
import { sessionKey, type ProjectedEvent } from './projected-event.js';
import { readCommit, type SessionHead } from './read-commit.js';

/** A commit set aside. */
export interface Quarantined {
  readonly streamSequence: number;
  readonly subject: string;
  readonly raw: Uint8Array;
  readonly problem: string;
}

/** Events missing before a commit: the journal lacks them. */
export interface Gap {
  readonly session: string;
  readonly expected: number;
  readonly found: number;
}

export interface Batch {
  readonly events: readonly ProjectedEvent[];
  readonly quarantined: readonly Quarantined[];
  readonly gaps: readonly Gap[];
}

/** What a batch of the journal brings. `heads` holds the last projected event of each session, by `sessionKey`. */
export function readBatch(entries: readonly JournalEntry[], heads: ReadonlyMap<string, SessionHead>): Batch {
  const current = new Map(heads);
  const events: ProjectedEvent[] = [];
  const quarantined: Quarantined[] = [];
  const gaps: Gap[] = [];
  for (const entry of entries) {
    if ('problem' in entry) {
      quarantined.push(entry);
      continue;
    }
    const session = sessionKey(entry.commit);
    const head = current.get(session);
    try {
      const read = readCommit(entry, head);
      const expected = (head?.sequence ?? -1) + 1;
      const found = read[0]?.event.sequence ?? expected;
      if (found !== expected) gaps.push({ session, expected, found });
      const last = read.at(-1);
      if (last) current.set(session, { sequence: last.event.sequence, hash: last.hash });
      // Not push(...read): a commit may hold more events than a call may have arguments.
      for (const event of read) events.push(event);
    } catch (error) {
      // Whatever is wrong with one commit, such as nesting too deep to be read, must not hold up the others.
      const problem = error instanceof Error ? error.message : String(error);
      quarantined.push({ streamSequence: entry.streamSequence, subject: entry.subject, raw: entry.raw, problem });
    }
  }
  return { events, quarantined, gaps };
}
