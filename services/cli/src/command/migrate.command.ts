import { withoutPassword } from '@jetloop/messaging';
import { migrate } from '@jetloop/persistence';
import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkDatabaseUrl } from '../input/check-database-url.js';

export interface MigrateOptions {
  readonly json?: boolean | undefined;
}

/** `jetloop migrate`: brings the tables of DATABASE_URL to the newest schema. */
export async function migrateCommand({ json }: MigrateOptions, io: CommandIo): Promise<ExitCode> {
  const url = checkDatabaseUrl(io.env['DATABASE_URL']);
  await migrate(url);
  const shown = withoutPassword(url);
  if (json) writeJson(io, { migrated: shown });
  else io.out.write(`${shown} has the newest schema\n`);
  return EXIT.completed;
}
