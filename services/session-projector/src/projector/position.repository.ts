import type { Database } from '@jetloop/persistence';
import { sql, type Kysely } from 'kysely';
import type { Position } from './check-journal.js';

const PROJECTION = 'sql';
/** Any number that nothing else locks: the replica that holds it projects. */
const PROJECTOR_LOCK = 7_416_205_002;

/** Takes the lock of the active replica for as long as this connection lives; false: another one has it. */
export async function tryLead(connection: Kysely<Database>): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`select pg_try_advisory_lock(${PROJECTOR_LOCK}) as held`.execute(
    connection,
  );
  return rows[0]?.held === true;
}

/** The stored position, which begins at 0 for this journal when there is none. */
export async function openPosition(
  db: Kysely<Database>,
  version: number,
  journalCreated: string,
): Promise<Position & { readonly version: number }> {
  await sql`insert into position (projection, version, stream_seq, journal_created)
    values (${PROJECTION}, ${version}, 0, ${journalCreated}) on conflict do nothing`.execute(db);
  const row = await db
    .selectFrom('position')
    .selectAll()
    .where('projection', '=', PROJECTION)
    .executeTakeFirstOrThrow();
  return { version: row.version, streamSequence: row.stream_seq, journalCreated: row.journal_created };
}

/** The last commit that was projected; 0 for none. */
export async function readPosition(db: Kysely<Database>): Promise<number> {
  const row = await db
    .selectFrom('position')
    .select('stream_seq')
    .where('projection', '=', PROJECTION)
    .executeTakeFirst();
  return row?.stream_seq ?? 0;
}

/** The same, held against every other writer until the transaction ends. */
export async function lockPosition(trx: Kysely<Database>): Promise<number> {
  const row = await trx
    .selectFrom('position')
    .select('stream_seq')
    .where('projection', '=', PROJECTION)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return row.stream_seq;
}

export async function movePosition(trx: Kysely<Database>, streamSequence: number): Promise<void> {
  await trx
    .updateTable('position')
    .set({ stream_seq: streamSequence, updated_at: sql<Date>`now()` })
    .where('projection', '=', PROJECTION)
    .execute();
}
