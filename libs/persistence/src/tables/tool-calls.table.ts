/** One row a tool call. */
export interface ToolCallsTable {
  tenant: string;
  session_id: string;
  turn: number;
  step: number;
  n: number;
  seq: number;
  call_id: string;
  name: string;
  arguments: string;
  /** Any JSON; null when the arguments did not parse. */
  effective: unknown;
  decision: 'allow' | 'deny' | 'ask';
  policy: string | null;
  reason: string | null;
  started_at: Date;
  ended_at: Date | null;
  duration_ms: number | null;
  is_error: boolean | null;
  error_name: string | null;
  error_code: string | null;
  result_text: string | null;
  effect_id: string;
}
