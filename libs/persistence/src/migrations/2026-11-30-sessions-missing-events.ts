import { sql, type Kysely } from 'kysely';

const COMMENT = 'Position of the first event that the journal lacks: the session is damaged. Null: none is missing.';

/** Sessions that were damaged before have fewer events than their last position says. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table jetloop.sessions add column missing_from bigint`.execute(db);
  await sql`comment on column jetloop.sessions.missing_from is ${sql.lit(COMMENT)}`.execute(db);
  await sql`update jetloop.sessions s set missing_from = gap.seq
    from (
      select tenant, session_id, min(expected) as seq
      from (
        select tenant, session_id, seq,
          coalesce(lag(seq) over (partition by tenant, session_id order by seq) + 1, 0) as expected
        from jetloop.events
      ) e
      where seq <> expected group by tenant, session_id
    ) gap
    where s.tenant = gap.tenant and s.session_id = gap.session_id`.execute(db);
}
