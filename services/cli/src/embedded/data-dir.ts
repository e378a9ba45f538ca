import { createHash } from 'node:crypto';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../usage-error.js';

/** Name of the folder that keeps what embedded servers hold. */
const FOLDER = '.jetloop';

/**
 * Where the embedded servers of a folder keep their data: `.jetloop` in it. Postgres does not run as root; where root works in
 * a folder that other users may not pass (below `/root`, say), it is `$XDG_DATA_HOME/jetloop/<hash of the folder>`, or
 * `/var/tmp/jetloop-<hash of the folder>`.
 */
export async function dataDirOf(
  folder: string,
  env: NodeJS.ProcessEnv,
  isRoot = process.getuid?.() === 0,
): Promise<string> {
  const usual = join(resolve(folder), FOLDER);
  if (!isRoot || !(await isClosed(folder))) return usual;
  const hash = createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 12);
  const home = env['XDG_DATA_HOME'];
  if (home !== undefined && home !== '' && !(await isClosed(home))) return join(home, 'jetloop', hash);
  return `/var/tmp/jetloop-${hash}`;
}

/** Creates it, so that no version control ever takes it in. @throws UsageError when it belongs to somebody else */
export async function openDataDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o711 });
  const { uid } = await stat(path);
  if (process.getuid !== undefined && uid !== process.getuid())
    throw new UsageError(`The data folder ${path} belongs to another user: remove it, or work in another folder.`);
  await writeFile(join(path, '.gitignore'), '*\n');
}

/** Whether there is data of an earlier run. */
export async function hasData(path: string): Promise<boolean> {
  const found = await stat(join(path, 'nats')).catch(() => undefined); // not there
  return found?.isDirectory() ?? false;
}

/** Whether a folder on the way may not be passed by everybody. A folder that is not there yet is open. */
async function isClosed(path: string): Promise<boolean> {
  for (let folder = resolve(path); folder !== dirname(folder); folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined); // not there yet
    if (found !== undefined && (found.mode & 0o001) === 0) return true;
  }
  return false;
}
