import { createDatabase, dropDatabase } from '@jetloop/persistence';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimNumber } from './claim-number.js';
import { RECORD_FILE, RUN_FOLDER_VARIABLE, type RunRecord, runRecordSchema } from './run-record.js';

export interface TestServers {
  /** NATS with the user and password of an account of its own in the address, where the run started the server. */
  readonly natsUrl: string;
  /** A database of its own, a clone of the migrated template. */
  readonly databaseUrl: string;
  /** A tenant that no other caller has. */
  readonly tenant: string;
  /** Drops the database. */
  stop(): Promise<void>;
}

/**
 * Servers for one test file, isolated from every other: an empty NATS account, an empty migrated database, a tenant.
 * Where `NATS_URL` was given there are no accounts: then only the tenant tells the files apart.
 *
 * @example
 * const servers = await testServers();
 * afterAll(() => servers.stop());
 */
export async function testServers(): Promise<TestServers> {
  const folder = process.env[RUN_FOLDER_VARIABLE];
  if (folder === undefined)
    throw new Error('No test run: put the test in an *.int.spec.ts or *.e2e.spec.ts and run it through jest.');
  const run = runRecordSchema.parse(JSON.parse(await readFile(join(folder, RECORD_FILE), 'utf8')));
  const unique = randomBytes(6).toString('hex');
  const name = `jetloop_test_${unique}`;
  const [natsUrl, databaseUrl] = await Promise.all([
    accountUrl(run, join(folder, 'claims')),
    createDatabase(run.databaseUrl, name, run.template),
  ]);
  let stopped: Promise<void> | undefined;
  return {
    natsUrl,
    databaseUrl,
    tenant: `test-${unique}`,
    stop: () => (stopped ??= dropDatabase(run.databaseUrl, name)),
  };
}

async function accountUrl(run: RunRecord, claims: string): Promise<string> {
  if (run.natsAccounts === 0) return run.natsUrl;
  const user = `t${await claimNumber(claims, run.natsAccounts)}`;
  return run.natsUrl.replace('nats://', `nats://${user}:${user}@`);
}
