/** A question of an auditor, and the SQL that answers it. */
export interface AuditQuery {
  readonly question: string;
  readonly sql: string;
}

/** The three questions that the demo ends with. */
export const AUDIT_QUERIES: readonly AuditQuery[] = [
  {
    question: 'What ran?',
    sql: `select step, name, coalesce(effective->>'path', effective->>'command', effective->>'pattern') as what,
       decision, not is_error as ok, duration_ms
from tool_calls order by step, n`,
  },
  {
    question: 'What was denied, by whom and why?',
    sql: `select d.policy, c.name, c.effective->>'path' as path, d.reason
from policy_decisions d join tool_calls c using (tenant, session_id, call_id)
where d.decision = 'deny' order by d.seq`,
  },
  {
    question: 'What did it cost?',
    sql: `select target, count(*)::int as calls, sum(input_tokens)::int as input, sum(cache_read_tokens)::int as cached,
       sum(output_tokens)::int as output, round(sum(cost), 6) as usd
from model_attempts group by target`,
  },
];
