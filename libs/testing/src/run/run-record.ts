import { z } from 'zod';

/** What the global set-up of a test run leaves for its test files. */
export const runRecordSchema = z.object({
  natsUrl: z.string(),
  /** Number of accounts `T1..Tn`; 0 where the NATS server was given. */
  natsAccounts: z.number().int(),
  /** Maintenance database. */
  databaseUrl: z.string(),
  /** Name of the migrated database that every test file clones. */
  template: z.string(),
});
export type RunRecord = z.infer<typeof runRecordSchema>;

/** Names the folder of the run: the record and the claims of the test files. */
export const RUN_FOLDER_VARIABLE = 'JETLOOP_TEST_RUN';
export const RECORD_FILE = 'run.json';
