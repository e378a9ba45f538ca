/** One row a projection: how far it has read the journal. */
export interface PositionTable {
  projection: string;
  version: number;
  stream_seq: number;
  journal_created: string;
  updated_at: Date;
}
