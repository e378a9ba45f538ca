import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { connectionOptions } from './connection-options.js';
import type { Database } from './database.js';
import { parseNumber } from './parse-number.js';

const { builtins } = pg.types;

export interface DatabasePoolOptions {
  /** Most connections at a time. Default 4. */
  readonly max?: number;
  /** Shown by PostgreSQL in `pg_stat_activity`. Default `jetloop`. */
  readonly applicationName?: string;
  /** A query without an answer fails after this many milliseconds. Default: none. */
  readonly queryTimeoutMs?: number;
  /** Queries that do not wait for each other go out together (see `pg`). Default: one after another. */
  readonly pipeline?: boolean;
  /** Told when a connection breaks. The query that meets it fails as well, so the default does nothing. */
  readonly onConnectionError?: (error: Error) => void;
}

/**
 * Connections to a database with the tables of `jetloop`: found without their schema, times in UTC, `bigint` and
 * `numeric` as numbers.
 *
 * @example const pool = createDatabasePool(databaseUrl, { applicationName: 'session-projector' });
 */
export function createDatabasePool(databaseUrl: string, options: DatabasePoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOptions(databaseUrl),
    max: options.max ?? 4,
    application_name: options.applicationName ?? 'jetloop',
    pipeline: options.pipeline ?? false,
    ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
    types: {
      getTypeParser: (oid, format) => {
        const isNumber = format !== 'binary' && (oid === builtins.INT8 || oid === builtins.NUMERIC);
        return isNumber ? parseNumber : (pg.types.getTypeParser(oid, format) as (value: string | Buffer) => unknown);
      },
    },
  });
  const report = options.onConnectionError ?? (() => undefined);
  // A connection that breaks while it is in use tells its own listeners only, and without one the process would end.
  pool.on('connect', (client) => client.on('error', report));
  pool.on('error', report);
  return pool;
}

/**
 * A typed query builder over `createDatabasePool`. `destroy()` closes its connections.
 *
 * @example
 * const db = createKysely(databaseUrl);
 * const open = await db.selectFrom('sessions').select('session_id').where('status', '=', 'waiting').execute();
 */
export function createKysely(databaseUrl: string, options: DatabasePoolOptions = {}): Kysely<Database> {
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool: createDatabasePool(databaseUrl, options) }) });
}
