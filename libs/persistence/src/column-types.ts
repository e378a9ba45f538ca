import { sql, type Kysely } from 'kysely';
import type { Database } from './database.js';

type ColumnTypes = ReadonlyMap<string, string>;

/** By table. A process meets one schema: migrations run before it reads or writes rows. */
const known = new Map<string, ColumnTypes>();

/** SQL type of each column of a table, such as `bigint`; asked for once. */
export async function columnTypes(db: Kysely<Database>, table: keyof Database): Promise<ColumnTypes> {
  const found = known.get(table);
  if (found) return found;
  const { rows } = await sql<{ name: string; type: string }>`
    select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = ${`jetloop.${table}`}::regclass and attnum > 0 and not attisdropped`.execute(db);
  const types = new Map(rows.map(({ name, type }) => [name, type]));
  known.set(table, types);
  return types;
}
