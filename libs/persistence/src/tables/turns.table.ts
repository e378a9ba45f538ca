import type { UsageColumns } from './usage.columns.js';

/** One row a turn. */
export interface TurnsTable extends UsageColumns {
  tenant: string;
  session_id: string;
  turn: number;
  trigger: string;
  trigger_source: string;
  started_at: Date;
  ended_at: Date | null;
  end_reason: string | null;
  end_detail: string | null;
  steps: number;
}
