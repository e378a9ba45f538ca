import { sql, type Kysely } from 'kysely';
import type { Database } from './database.js';
import { rowsAsArrays } from './rows-as-arrays.js';
import type { WrittenRow } from './write-rows.js';

/**
 * The rows of a table with these keys, in the form in which `writeRows` takes them. All keys name the same columns.
 *
 * @example const rows = await readRows(trx, 'sessions', [{ tenant: 'acme', session_id: 's1' }]);
 */
export async function readRows<T extends keyof Database>(
  db: Kysely<Database>,
  table: T,
  keys: readonly Partial<WrittenRow<T>>[],
): Promise<WrittenRow<T>[]> {
  const [first] = keys;
  if (first === undefined) return [];
  const names = Object.keys(first);
  const isSame = names.map((name) => sql`t.${sql.ref(name)} = k.${sql.ref(name)}`);
  const { rows } = await sql<{ row: WrittenRow<T> }>`select to_jsonb(t) as row
    from ${await rowsAsArrays(db, table, names, keys)} as k(${sql.join(names.map((name) => sql.ref(name)))})
    join ${sql.table(table)} t on ${sql.join(isSame, sql` and `)}`.execute(db);
  return rows.map(({ row }) => row);
}
