import { ProjectorStoppedError } from '../projector-stopped-error.js';

/** What SQL says about the journal that it was projected from. */
export interface Position {
  readonly streamSequence: number;
  readonly journalCreated: string;
}

const WAYS_OUT =
  'Bring back the newer journal and start again, or rebuild SQL from this one; until then SQL keeps what it has';

/** @throws ProjectorStoppedError when this is not the journal that was projected, or an older state of it (spec 8.4) */
export function checkJournal(position: Position, journal: { readonly last: number; readonly created: string }): void {
  const { streamSequence, journalCreated } = position;
  if (journal.created !== journalCreated) {
    const problem = `The journal was created at ${journal.created}, and SQL was projected from one created at ${journalCreated}`;
    throw new ProjectorStoppedError('journal_recreated', problem, WAYS_OUT);
  }
  if (journal.last < streamSequence) {
    const problem = `The journal ends at ${journal.last}, and SQL was projected up to ${streamSequence}`;
    throw new ProjectorStoppedError('journal_older', problem, WAYS_OUT);
  }
}
