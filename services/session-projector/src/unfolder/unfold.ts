import { parseSessionSubject, toCloudEvents } from '@jetloop/contracts';
import type { JournalEntry, JournalPosition, PublicEvent } from '@jetloop/messaging';
import { eventSubject } from './event-subject.js';

/** Before everything in the journal. */
export const JOURNAL_START: JournalPosition = { streamSequence: 0, index: -1 };

/** Whether `a` comes after `b` in the public stream. */
export function isAfter(a: JournalPosition, b: JournalPosition): boolean {
  return a.streamSequence === b.streamSequence ? a.index > b.index : a.streamSequence > b.streamSequence;
}

/**
 * The public events of entries of the journal: a pure function of them (spec 1.5). An entry that is no commit, or whose
 * subject is another session's, has none.
 */
export function* unfold(entries: readonly JournalEntry[]): Generator<PublicEvent> {
  for (const entry of entries) {
    if (!('commit' in entry)) continue;
    const { commit, streamSequence, subject } = entry;
    const ids = parseSessionSubject(subject);
    if (ids?.tenant !== commit.tenant || ids.session !== commit.session) continue;
    for (const [index, event] of toCloudEvents(commit).entries()) {
      const type = commit.events[index]?.type ?? '';
      yield {
        subject: eventSubject(commit.tenant, commit.session, type),
        body: Buffer.from(JSON.stringify(event)),
        journal: { streamSequence, index },
      };
    }
  }
}
