import type { Commit } from '@jetloop/contracts';
import { decodeCommit } from './journal.js';
import type { StoredMessage } from './read-journal.js';

/** A message of JOURNAL, with its commit or with what is wrong with it. */
export type JournalEntry = StoredMessage & ({ readonly commit: Commit } | { readonly problem: string });

export function toEntry(message: StoredMessage): JournalEntry {
  try {
    return { ...message, commit: decodeCommit(message.raw) };
  } catch (error) {
    return { ...message, problem: error instanceof Error ? error.message : String(error) };
  }
}
