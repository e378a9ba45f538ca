import pg from 'pg';
import Cursor from 'pg-cursor';
import { connectionOptions } from '../connection-options.js';
import { AuditQueryError } from './audit-query-error.js';
import { auditTypes } from './audit-types.js';

/** What a client waits longer than the server, which says more precisely what happened. */
const CLIENT_GRACE_MS = 1_000;

export interface AuditQueryOptions {
  /** More rows are not fetched. Default 1,000. */
  readonly maxRows?: number;
  /** Default 30,000 milliseconds. */
  readonly timeoutMs?: number;
}

export interface AuditResult {
  readonly columns: string[];
  readonly rows: unknown[][];
  /** There were more than `maxRows`. */
  readonly truncated: boolean;
}

/**
 * Runs one statement in a read-only transaction. Tables are found without their schema, times are in UTC.
 *
 * It reads what the user of `databaseUrl` may read: give an auditor a user of their own. More than one statement is
 * refused, so that no query can leave the transaction and go on.
 * @throws AuditQueryError with what PostgreSQL said
 *
 * @example const { rows } = await runAuditQuery(databaseUrl, 'select name, reason from tool_calls where decision = $$deny$$');
 */
export async function runAuditQuery(
  databaseUrl: string,
  query: string,
  { maxRows = 1_000, timeoutMs = 30_000 }: AuditQueryOptions = {},
): Promise<AuditResult> {
  const client = new pg.Client({ ...connectionOptions(databaseUrl), application_name: 'jetloop-sql' });
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined); // it may break while nobody waits for it: before and after the query
  client.on('error', broken.reject);
  const overdue = `the query took longer than ${timeoutMs} ms`;
  const timer = setTimeout(() => {
    broken.reject(new Error(overdue));
  }, timeoutMs + CLIENT_GRACE_MS);
  try {
    await client.connect();
    const work = async (): Promise<AuditResult> => {
      await client.query('begin transaction read only');
      await client.query('select set_config($1, $2, true)', ['statement_timeout', String(timeoutMs)]);
      return readRows(client, query, maxRows);
    };
    return await Promise.race([work(), broken.promise]);
  } catch (error) {
    throw describe(error, query);
  } finally {
    clearTimeout(timer);
    void client.end().catch(() => undefined); // the transaction ends with its connection; a stuck one is not waited for
  }
}

/** The driver's cursor does not know that a statement may answer with data of COPY, and would take the process down. */
class TableCursor extends Cursor<unknown[]> {
  constructor(
    query: string,
    readonly handleCopyData: () => void,
  ) {
    super(query, [], { rowMode: 'array', types: auditTypes });
  }
}

/** A cursor sends the query as one prepared statement, and fetches no more than what is asked for. */
function readRows(client: pg.Client, query: string, maxRows: number): Promise<AuditResult> {
  return new Promise((resolve, reject) => {
    const cursor = client.query(
      new TableCursor(query, () => {
        reject(new Error('The output of COPY cannot be shown as rows: write a SELECT'));
      }),
    );
    cursor.read(maxRows + 1, (error: Error | undefined | null, rows, result) => {
      if (error) {
        reject(error);
        return;
      }
      const columns = result.fields.map((field) => field.name);
      resolve({ columns, rows: rows.slice(0, maxRows), truncated: rows.length > maxRows });
    });
  });
}

function describe(error: unknown, query: string): AuditQueryError {
  if (!(error instanceof pg.DatabaseError)) {
    return new AuditQueryError(error instanceof Error ? error.message : String(error), query, {}, error);
  }
  const { code, position, detail, hint } = error;
  const problem = {
    ...(code === undefined ? {} : { code }),
    ...(position === undefined ? {} : { position: Number(position) }),
    ...(detail === undefined ? {} : { detail }),
    ...(hint === undefined ? {} : { hint }),
  };
  return new AuditQueryError(error.message, query, problem, error);
}
