/** One row a commit that could not be projected. */
export interface QuarantineTable {
  tenant: string;
  stream_seq: number;
  subject: string;
  raw: Uint8Array;
  problem: string;
  quarantined_at: Date;
}
