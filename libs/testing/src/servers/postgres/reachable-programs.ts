import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { firstClosedFolder, type SystemUser } from './postgres-user.js';

/** Postgres where its user can reach it: as it lies, or as a copy when a folder above (such as `/root`) is closed to that user. */
export async function reachablePrograms(
  programs: string,
  user: SystemUser | undefined,
  copyInto: string,
): Promise<string> {
  if (user === undefined || (await firstClosedFolder(programs, user)) === undefined) return programs;
  const copy = join(copyInto, 'programs');
  await rm(copy, { recursive: true, force: true });
  await cp(programs, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}
