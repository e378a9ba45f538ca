import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { createKysely } from './create-kysely.js';
import { migrations } from './migrations/index.js';
import { SCHEMA } from './schema-name.js';

/** Any number that nothing else locks: two processes that migrate take turns. */
const MIGRATION_LOCK = 7_416_205_001;

/** A migration failed, or the database was migrated by a newer build. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * Brings the database to the newest schema. Does nothing when it is there already; of several processes at once one
 * migrates and the others wait for it.
 * @throws MigrationError
 *
 * @example await migrate('postgres://jetloop@127.0.0.1/jetloop');
 */
export async function migrate(databaseUrl: string): Promise<void> {
  const db = createKysely(databaseUrl, { max: 1, applicationName: 'jetloop-migrate' });
  try {
    await db.connection().execute(async (connection) => {
      // Held by the connection: it goes with it, whatever happens below.
      await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(connection);
      const migrator = new Migrator({
        db: connection,
        provider: { getMigrations: () => Promise.resolve(migrations) },
        migrationTableSchema: SCHEMA,
        migrationTableName: 'migration',
        migrationLockTableName: 'migration_lock',
      });
      const { error, results } = await migrator.migrateToLatest();
      if (error === undefined) return;
      const failed = results?.find((result) => result.status === 'Error')?.migrationName;
      const where = failed === undefined ? '' : ` ${failed}`;
      throw new MigrationError(
        `migration${where} failed: ${error instanceof Error ? error.message : JSON.stringify(error)}`,
        {
          cause: error,
        },
      );
    });
  } finally {
    await db.destroy();
  }
}
