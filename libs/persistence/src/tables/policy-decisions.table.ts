/** One row a decision of a policy that was not a plain allow. */
export interface PolicyDecisionsTable {
  tenant: string;
  session_id: string;
  seq: number;
  turn: number | null;
  time: Date;
  seam: string;
  policy: string;
  decision: string;
  reason: string | null;
  call_id: string | null;
  message_id: string | null;
}
