/** Where a public event comes from: its commit's stream sequence, and its index in the commit. */
export interface JournalPosition {
  readonly streamSequence: number;
  readonly index: number;
}

/** The last message of EVENTS: its sequence there, and what of the journal it unfolds. */
export interface EventsEnd {
  readonly sequence: number;
  readonly journal: JournalPosition;
}
