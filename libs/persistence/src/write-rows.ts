import { sql, type Kysely } from 'kysely';
import type { Database } from './database.js';
import { rowsAsArrays } from './rows-as-arrays.js';

type Cell<V> = V extends Date | Uint8Array ? string : V;

/** A row on its way into a table: times as RFC 3339, bytes as `byteaText`, JSON as plain values. */
export type WrittenRow<T extends keyof Database> = { [C in keyof Database[T]]: Cell<Database[T][C]> };

/** Bytes as PostgreSQL reads them from text. */
export function byteaText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}

export interface WriteOptions<T extends keyof Database> {
  /** Columns of the table's key. A row with a key that is there already replaces the old one. Default: it is an error. */
  readonly replaceBy?: readonly (keyof Database[T] & string)[];
}

/**
 * Writes any number of rows with one statement and one parameter a column. Two rows must not have the same key.
 *
 * @example await writeRows(trx, 'sessions', rows, { replaceBy: ['tenant', 'session_id'] });
 */
export async function writeRows<T extends keyof Database>(
  db: Kysely<Database>,
  table: T,
  rows: readonly WrittenRow<T>[],
  options: WriteOptions<T> = {},
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const names = Object.keys(first);
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const key: readonly string[] = options.replaceBy ?? [];
  const updates = names.filter((name) => !key.includes(name));
  const onConflict =
    key.length === 0
      ? sql``
      : sql`on conflict (${sql.join(key.map((name) => sql.ref(name)))}) do update set ${sql.join(
          updates.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`),
        )}`;
  await sql`insert into ${sql.table(table)} (${columns}) select * from ${await rowsAsArrays(db, table, names, rows)}
    ${onConflict}`.execute(db);
}
