import { withoutPassword } from '@jetloop/messaging';
import { migrate, MigrationError } from '@jetloop/persistence';
import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkDatabaseUrl } from '../input/check-database-url.js';

export interface MigrateOptions {
  readonly json?: boolean | undefined;
}

/** `jetloop migrate`: brings the tables of DATABASE_URL to the newest schema. */
export async function migrateCommand({ json }: MigrateOptions, io: CommandIo): Promise<ExitCode> {
  const url = checkDatabaseUrl(io.env['DATABASE_URL']);
  const shown = withoutPassword(url);
  try {
    await migrate(url);
  } catch (error) {
    if (error instanceof MigrationError) throw error;
    throw new MigrationError(`${shown} cannot be migrated: ${reasonOf(error)}`, { cause: error });
  }
  if (json) writeJson(io, { migrated: shown });
  else io.out.write(`${shown} has the newest schema\n`);
  return EXIT.completed;
}

/** An address with several hosts fails with several errors and no message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
