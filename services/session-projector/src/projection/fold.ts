import { readRows, writeRows, type Database, type WrittenRow } from '@jetloop/persistence';
import type { ProjectedEvent } from './projected-event.js';
import type { Projection } from './projection.js';

/** A table whose rows are folded from several events each. Its functions are pure. */
export interface Fold<T extends keyof Database> {
  readonly table: T;
  readonly key: readonly (keyof Database[T] & string)[];
  /** Key of the row that an event changes; undefined: it changes none. Always with the columns of `key`. */
  keyOf(event: ProjectedEvent): Partial<WrittenRow<T>> | undefined;
  /** The row after an event; undefined: there is none. */
  apply(row: WrittenRow<T> | undefined, event: ProjectedEvent): WrittenRow<T> | undefined;
}

/** Folds a batch in memory: reads the rows that it changes, once, and writes them back, once. */
export function foldProjection<T extends keyof Database>(fold: Fold<T>): Projection {
  const idOf = (key: Partial<WrittenRow<T>>): string => JSON.stringify(fold.key.map((column) => key[column]));
  return async (trx, events) => {
    const changes = events.flatMap((event) => {
      const key = fold.keyOf(event);
      return key === undefined ? [] : [{ event, key, id: idOf(key) }];
    });
    const keys = new Map(changes.map(({ id, key }) => [id, key]));
    const stored = await readRows(trx, fold.table, [...keys.values()]);
    const rows = new Map(stored.map((row) => [idOf(row), row]));
    for (const { event, id } of changes) {
      const row = fold.apply(rows.get(id), event);
      if (row !== undefined) rows.set(id, row);
    }
    await writeRows(trx, fold.table, [...rows.values()], { replaceBy: fold.key });
  };
}
