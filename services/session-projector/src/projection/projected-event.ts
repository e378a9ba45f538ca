import type { RecordedEvent, UnknownEvent } from '@jetloop/contracts';

/** An event on its way into the tables. */
export interface ProjectedEvent {
  readonly tenant: string;
  readonly session: string;
  /** RFC 3339, of its commit. */
  readonly time: string;
  readonly causation: string;
  readonly actor: string;
  readonly streamSequence: number;
  /** Its bytes in the journal. */
  readonly raw: Uint8Array;
  readonly hash: Uint8Array;
  /** Cleaned: it holds nothing that PostgreSQL cannot store. */
  readonly event: RecordedEvent | UnknownEvent;
  /** Whether cleaning changed it. */
  readonly sanitized: boolean;
  /** All events of its commit, itself included, cleaned. */
  readonly decision: readonly (RecordedEvent | UnknownEvent)[];
}

/** One string for a session; neither id can hold a dot. */
export function sessionKey(of: { tenant: string; session: string }): string {
  return `${of.tenant}.${of.session}`;
}
