import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const NAME = /^[a-z_][a-z0-9_]{0,62}$/;
/** A template is busy while another database is made from it, or while a closed connection is still being taken down. */
const TEMPLATE_BUSY = '55006';
const TEMPLATE_TRIES = 50;

/**
 * Creates a database, as a copy of `template` if given (a migrated one, for tests: nobody may be connected to it).
 * @param adminUrl a database of the same server, with a user who may create databases
 * @param name lower-case letters, digits and `_`
 * @returns the URL of the new database
 */
export async function createDatabase(adminUrl: string, name: string, template?: string): Promise<string> {
  const copied = template === undefined ? '' : ` template ${identifier(template)}`;
  const statement = `create database ${identifier(name)}${copied}`;
  for (let tries = 1; ; tries += 1) {
    try {
      await execute(adminUrl, statement);
      break;
    } catch (error) {
      const isBusy = error instanceof pg.DatabaseError && error.code === TEMPLATE_BUSY;
      if (!isBusy || tries === TEMPLATE_TRIES) throw error;
      await sleep(100);
    }
  }
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Drops a database, with all connections to it; nothing happens when there is none of that name. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await execute(adminUrl, `drop database if exists ${identifier(name)} with (force)`);
}

async function execute(adminUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function identifier(name: string): string {
  if (!NAME.test(name)) {
    throw new Error(`"${name}" cannot name a database here: expected 1 to 63 of a-z, 0-9 and "_", no digit first`);
  }
  return `"${name}"`;
}
