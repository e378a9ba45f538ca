import type { JournalEntry } from '@jetloop/messaging';
import { isDataError, type DatabaseConnection } from '@jetloop/persistence';
import { readHeads } from '../projection/heads.repository.js';
import { sessionKey } from '../projection/projected-event.js';
import { projections } from '../projection/projections.js';
import { readBatch, type Gap, type Quarantined } from '../projection/read-batch.js';
import { lockPosition, movePosition } from './position.repository.js';
import { quarantine } from './quarantine.repository.js';

export interface BatchResult {
  readonly events: number;
  readonly quarantined: readonly Quarantined[];
  readonly gaps: readonly Gap[];
}

const NOTHING: BatchResult = { events: 0, quarantined: [], gaps: [] };

/**
 * Projects entries of the journal, oldest first: all tables and the position in one transaction. What the position says
 * was seen is skipped, so the same entries may come again. Where PostgreSQL refuses the data, halves are tried, down to
 * the one commit that goes into quarantine.
 */
export async function projectBatch(
  connection: DatabaseConnection,
  entries: readonly JournalEntry[],
): Promise<BatchResult> {
  try {
    return await connection.transaction().execute((trx) => apply(trx, entries));
  } catch (error) {
    const [first] = entries;
    if (!isDataError(error) || first === undefined || (entries.length === 1 && 'problem' in first)) throw error;
    if (entries.length === 1) {
      const { streamSequence, subject, raw } = first;
      return projectBatch(connection, [{ streamSequence, subject, raw, problem: error.message }]);
    }
    const middle = Math.ceil(entries.length / 2);
    const before = await projectBatch(connection, entries.slice(0, middle));
    const after = await projectBatch(connection, entries.slice(middle));
    return sum(before, after);
  }
}

async function apply(trx: DatabaseConnection, entries: readonly JournalEntry[]): Promise<BatchResult> {
  const position = await lockPosition(trx);
  const unseen = entries.filter(({ streamSequence }) => streamSequence > position);
  const last = unseen.at(-1);
  if (last === undefined) return NOTHING;
  const sessions = new Map(
    unseen.flatMap((entry) => ('commit' in entry ? [[sessionKey(entry.commit), idsOf(entry.commit)] as const] : [])),
  );
  const heads = await readHeads(trx, [...sessions.values()]);
  const batch = readBatch(unseen, heads);
  await together([
    ...projections.map((project) => project(trx, batch.events)),
    quarantine(trx, batch.quarantined, new Date()),
    movePosition(trx, last.streamSequence),
  ]);
  return { events: batch.events.length, quarantined: batch.quarantined, gaps: batch.gaps };
}

/** Waits for all, also where one fails: what is sent after the transaction's end would stand outside of it. */
async function together(tasks: readonly Promise<void>[]): Promise<void> {
  const failures: unknown[] = [];
  await Promise.all(tasks.map((task) => task.catch((error: unknown) => failures.push(error))));
  // The first in time: the others only say that the transaction has failed.
  if (failures.length > 0) throw failures[0];
}

const idsOf = ({ tenant, session }: { tenant: string; session: string }) => ({ tenant, session });

function sum(a: BatchResult, b: BatchResult): BatchResult {
  return {
    events: a.events + b.events,
    quarantined: [...a.quarantined, ...b.quarantined],
    gaps: [...a.gaps, ...b.gaps],
  };
}
