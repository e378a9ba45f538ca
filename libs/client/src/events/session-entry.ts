import type { Commit, RecordedEvent, UnknownEvent } from '@jetloop/contracts';

/** An event of a session with what its commit says of it. */
export interface SessionEntry {
  readonly event: RecordedEvent | UnknownEvent;
  /** RFC 3339: when it was committed. */
  readonly at: string;
  /** The id of the command that was decided. */
  readonly causation: string;
  readonly actor: string;
}

/** The entries of a commit from a sequence on. */
export function entriesOf({ at, causation, actor, events }: Commit, from: number): SessionEntry[] {
  return events.filter(({ sequence }) => sequence >= from).map((event) => ({ event, at, causation, actor }));
}
