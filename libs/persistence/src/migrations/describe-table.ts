import { sql, type Kysely } from 'kysely';

/** A table as a migration writes it down. Nothing goes without a comment. */
export interface TableDescription {
  readonly table: string;
  readonly comment: string;
  /** Column: [SQL type and constraints, comment]. */
  readonly columns: Readonly<Record<string, readonly [type: string, comment: string]>>;
  readonly key: readonly string[];
  readonly indexes?: readonly (readonly string[])[];
}

/** Creates a table in a schema, with its key, indexes and comments. */
export async function createTable(db: Kysely<never>, schema: string, description: TableDescription): Promise<void> {
  const { table, comment, columns, key, indexes = [] } = description;
  const name = sql.table(`${schema}.${table}`);
  const definitions = Object.entries(columns).map(([column, [type]]) => sql`${sql.ref(column)} ${sql.raw(type)}`);
  const refs = (names: readonly string[]) => sql.join(names.map((column) => sql.ref(column)));
  await sql`create table ${name} (${sql.join(definitions)}, primary key (${refs(key)}))`.execute(db);
  for (const index of indexes) await sql`create index on ${name} (${refs(index)})`.execute(db);
  await sql`comment on table ${name} is ${sql.lit(comment)}`.execute(db);
  for (const [column, [, text]] of Object.entries(columns)) {
    await sql`comment on column ${sql.ref(`${schema}.${table}.${column}`)} is ${sql.lit(text)}`.execute(db);
  }
}
