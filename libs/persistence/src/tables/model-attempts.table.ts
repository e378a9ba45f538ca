/** One row a try at one model target. */
export interface ModelAttemptsTable {
  tenant: string;
  session_id: string;
  attempt_id: string;
  seq: number;
  turn: number | null;
  step: number | null;
  time: Date;
  target: string;
  model: string | null;
  why: string;
  outcome: string;
  error_code: string | null;
  error_message: string | null;
  input_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
  first_token_ms: number | null;
  duration_ms: number;
}
