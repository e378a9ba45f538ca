import type { UsageColumns } from './usage.columns.js';

/** One row a session: where it stands and what it used. */
export interface SessionsTable extends UsageColumns {
  tenant: string;
  session_id: string;
  status: 'idle' | 'running' | 'waiting' | 'closed';
  waiting_for: 'model' | 'tool' | 'approval' | 'deferred' | null;
  waiting_since: Date | null;
  agent: string;
  model: string | null;
  workspace: string;
  turns: number;
  steps: number;
  open_calls: number;
  open_approvals: number;
  created_at: Date;
  last_event_at: Date;
  last_seq: number;
  missing_from: number | null;
}
