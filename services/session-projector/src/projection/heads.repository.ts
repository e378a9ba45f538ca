import type { Database } from '@jetloop/persistence';
import { sql, type Kysely } from 'kysely';
import { sessionKey } from './projected-event.js';
import type { SessionHead } from './read-commit.js';

interface SessionId {
  readonly tenant: string;
  readonly session: string;
}

/** The last projected event of each of these sessions that has one, by `sessionKey`. */
export async function readHeads(
  db: Kysely<Database>,
  sessions: readonly SessionId[],
): Promise<Map<string, SessionHead>> {
  const { rows } = await sql<SessionId & { seq: number; hash: Uint8Array }>`
    select k.tenant, k.session, head.seq, head.hash
    from json_to_recordset(${JSON.stringify(sessions)}::json) as k(tenant text, session text)
    cross join lateral (
      select e.seq, e.hash from events e where e.tenant = k.tenant and e.session_id = k.session
      order by e.seq desc limit 1
    ) head`.execute(db);
  return new Map(rows.map((row) => [sessionKey(row), { sequence: row.seq, hash: row.hash }]));
}
