import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { errnoOf, WorkspaceError } from '../tool/workspace-error.js';
import type { Workspace } from '../tool/workspace.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Puts `data` in place by rename: a reader, and a crash, see the old file or the new one. Missing folders are made. */
export async function writeAtomic(workspace: Workspace, path: string, data: string): Promise<{ created: boolean }> {
  return workspace.withParent(path, { create: true }, async (directory, name) => {
    const target = directory.entry(name);
    const existing = await lstatOrNothing(target);
    if (existing?.isDirectory()) throw new WorkspaceError('is_a_directory', `${path}: is a directory`);
    if (existing && !existing.isFile()) throw new WorkspaceError('not_a_file', `${path}: is not a regular file`);
    const temporary = directory.entry(`.${randomUUID()}.tmp`);
    try {
      const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
      try {
        if (existing) await file.chmod(existing.mode & 0o777);
        await file.writeFile(data);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    return { created: existing === undefined };
  });
}

export async function lstatOrNothing(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
