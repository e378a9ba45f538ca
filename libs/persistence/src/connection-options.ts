import type { ClientConfig } from 'pg';
import { SCHEMA } from './schema-name.js';

/** How long a connection may take to come up, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Options of a connection: tables are found without their schema, and times are written in UTC. */
export function connectionOptions(databaseUrl: string): ClientConfig {
  const url = new URL(databaseUrl);
  // What stands in the URL wins over the driver's options: ours are added to it.
  const settings = [url.searchParams.get('options'), `-c search_path=${SCHEMA}`, '-c timezone=UTC'];
  url.searchParams.set('options', settings.filter((setting) => setting !== null).join(' '));
  return { connectionString: url.href, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true };
}
