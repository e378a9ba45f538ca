/** The whole log, one row an event. */
export interface EventsTable {
  tenant: string;
  session_id: string;
  seq: number;
  type: string;
  version: number;
  time: Date;
  causation_id: string;
  correlation_id: string | null;
  actor: string;
  /** Any JSON; null when the event has none. */
  data: unknown;
  raw: Uint8Array;
  stream_seq: number;
  hash: Uint8Array;
  sanitized: boolean;
}
