import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { InfraError } from '../infra-error.js';
import { runProgram } from '../run-program.js';

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * The user to run Postgres as: Postgres refuses root. For an ordinary user nothing changes. For root it is the owner of
 * the data if there is data, else `postgres` where the machine has it, else `nobody`; no user is created.
 */
export async function postgresUser(
  dataFolder: string,
  isRoot = process.getuid?.() === 0,
): Promise<SystemUser | undefined> {
  if (!isRoot) return undefined;
  const data = await stat(dataFolder).catch(() => undefined); // not there: a new cluster
  if (data !== undefined && data.uid !== 0) return { uid: data.uid, gid: data.gid };
  const user = (await lookUp('postgres')) ?? (await lookUp('nobody'));
  if (user === undefined)
    throw new InfraError(
      'Postgres does not run as root, and there is no user "postgres" or "nobody". Run as another user.',
    );
  return user;
}

/** The first folder on the way to a path that the user may not pass, if any. */
export async function firstClosedFolder(path: string, user: SystemUser): Promise<string | undefined> {
  const folders: string[] = [];
  for (let folder = resolve(path); folder !== dirname(folder); folder = dirname(folder)) folders.unshift(folder);
  for (const folder of folders) {
    const { mode, uid, gid } = await stat(folder);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return folder;
  }
  return undefined;
}

async function lookUp(name: string): Promise<SystemUser | undefined> {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (flag) => Number(await runProgram('id', [flag, name], { timeoutMs: 5_000 }))),
    );
    return uid === undefined || gid === undefined ? undefined : { uid, gid };
  } catch {
    return undefined; // no such user
  }
}
