import { sql, type Kysely } from 'kysely';

/** Part of a page that inserts fill, in percent. Rows that change again find room on their own page. */
const fillFactors = { sessions: 50, turns: 50, tool_calls: 80 } as const;

/**
 * A row of `sessions` changes with every batch. An index over a column that changes each time makes PostgreSQL write all
 * indexes of the table each time; without one, and with room on the page, it writes the row alone (a HOT update).
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`drop index jetloop.sessions_tenant_last_event_at_idx`.execute(db);
  await sql`create index on jetloop.sessions (tenant, created_at)`.execute(db);
  for (const [table, percent] of Object.entries(fillFactors))
    await sql`alter table ${sql.table(`jetloop.${table}`)} set (fillfactor = ${sql.lit(percent)})`.execute(db);
}
