import { createHash } from 'node:crypto';
import { lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { UsageError } from '../usage-error.js';

const MAX_NAME = 40;

/**
 * Where the embedded servers of a folder keep their data: `$XDG_DATA_HOME/jetloop/<name>-<hash>`, by default below
 * `~/.local/share`. It lies outside the folder, which agents work in: the log is not theirs to see or change. Where that
 * cannot be it is `/var/tmp/jetloop-<hash>`: for root where other users may not pass the data home (Postgres does not run as
 * root), and where the data home lies in the folder itself. The hash is of the folder's real path.
 */
export async function dataDirOf(
  folder: string,
  env: NodeJS.ProcessEnv,
  isRoot = process.getuid?.() === 0,
): Promise<string> {
  const real = await realpath(folder);
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 12);
  const home = resolve(dataHome(env));
  const isUsable = !contains(real, home) && !(isRoot && (await isClosed(home)));
  if (!isUsable) return `/var/tmp/jetloop-${hash}`;
  const name = basename(real).replaceAll(/[^\w.-]/g, '_');
  return join(home, 'jetloop', `${name.slice(0, MAX_NAME)}-${hash}`);
}

/** Creates it. @throws UsageError when it belongs to somebody else */
export async function openDataDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o711 });
  // Of the path itself: somebody else's link may lead to a folder of ours.
  const { uid } = await lstat(path);
  if (process.getuid !== undefined && uid !== process.getuid())
    throw new UsageError(`The data folder ${path} belongs to another user: remove it, or work in another folder.`);
}

/** Whether there is data of an earlier run. */
export async function hasData(path: string): Promise<boolean> {
  const found = await stat(join(path, 'nats')).catch(() => undefined); // not there
  return found?.isDirectory() ?? false;
}

/** A relative XDG_DATA_HOME counts for nothing, as the XDG specification says. */
function dataHome(env: NodeJS.ProcessEnv): string {
  const given = env['XDG_DATA_HOME'];
  if (given !== undefined && isAbsolute(given)) return given;
  const home = env['HOME'];
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), '.local', 'share');
}

function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!/^\.\.(?:[/\\]|$)/.test(way) && !isAbsolute(way));
}

/** Whether a folder on the way may not be passed by everybody. A folder that is not there yet is open. */
async function isClosed(path: string): Promise<boolean> {
  for (let folder = resolve(path); folder !== dirname(folder); folder = dirname(folder)) {
    const found = await stat(folder).catch(() => undefined); // not there yet
    if (found !== undefined && (found.mode & 0o001) === 0) return true;
  }
  return false;
}
