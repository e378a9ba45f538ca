import { createDatabase, dropDatabase, migrate } from '@jetloop/persistence';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startInfra } from '../servers/start-infra.js';
import { RECORD_FILE, RUN_FOLDER_VARIABLE, type RunRecord } from './run-record.js';

/** One account for each call of `testServers()`; an unused one costs next to nothing. */
const NATS_ACCOUNTS = 256;
/** Data of a test run need not survive a power cut. */
const POSTGRES_FLAGS = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300'];

export interface TestRun {
  stop(): Promise<void>;
}

/**
 * Starts the servers that all test files of a run share, and a migrated template database. Called once, before the test
 * processes start: they find the run through an environment variable that this sets.
 */
export async function startTestRun(): Promise<TestRun> {
  const infra = await startInfra({
    natsAccounts: NATS_ACCOUNTS,
    postgresFlags: POSTGRES_FLAGS.flatMap((setting) => ['-c', setting]),
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  const folder = await mkdtemp(join(tmpdir(), 'jetloop-run-'));
  const template = `jetloop_template_${randomBytes(6).toString('hex')}`;
  const stop = async () => {
    Reflect.deleteProperty(process.env, RUN_FOLDER_VARIABLE);
    try {
      // An embedded server takes its databases with it.
      if (infra.describe.postgres === 'given') await dropDatabase(infra.databaseUrl, template);
    } finally {
      await infra.stop();
      await rm(folder, { recursive: true, force: true });
    }
  };
  try {
    await migrate(await createDatabase(infra.databaseUrl, template));
    const record: RunRecord = {
      natsUrl: infra.natsUrl,
      natsAccounts: infra.describe.nats === 'given' ? 0 : NATS_ACCOUNTS,
      databaseUrl: infra.databaseUrl,
      template,
    };
    await mkdir(join(folder, 'claims'));
    await writeFile(join(folder, RECORD_FILE), JSON.stringify(record), { mode: 0o600 });
    process.env[RUN_FOLDER_VARIABLE] = folder;
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
