import { constants } from 'node:fs';
import { lstat, open, readdir, rmdir, unlink } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import { WorkspaceError } from '../tool/workspace-error.js';
import { directoryOf } from '../tool/directory.js';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

export const removeTool = defineTool({
  name: 'remove',
  description:
    'Removes a file, a symbolic link (not what it points to) or a folder of the workspace. A folder that is not empty needs recursive.',
  input: z.object({
    path: z.string(),
    recursive: z.boolean().default(false).describe('Remove a folder with all it holds'),
  }),
  async run({ path, recursive }, { workspace, signal }) {
    const name = workspace.display(await workspace.resolve(path, { followLast: false }));
    const count = await workspace.withParent(path, { followLast: false }, async (folder, entryName) => {
      const entry = folder.entry(entryName);
      if (!(await lstat(entry)).isDirectory()) {
        await unlink(entry);
        return 1;
      }
      if (recursive) return removeTree(entry, signal);
      if ((await readdir(entry)).length > 0)
        throw new WorkspaceError(
          'not_empty',
          `${name}: the directory is not empty; set recursive to remove it with all it holds`,
        );
      await rmdir(entry);
      return 1;
    });
    return `Removed ${name}${count > 1 ? ` (${count} entries)` : ''}.`;
  },
});

/** Folder by folder through open handles: a link that takes a folder's place meanwhile is not followed. */
async function removeTree(path: string, signal: AbortSignal): Promise<number> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  let count = 1;
  try {
    const directory = directoryOf(handle, path);
    for (const { name } of await readdir(directory.path, { withFileTypes: true })) {
      signal.throwIfAborted();
      const entry = directory.entry(name);
      if ((await lstat(entry)).isDirectory()) count += await removeTree(entry, signal);
      else {
        await unlink(entry);
        count += 1;
      }
    }
  } finally {
    await handle.close();
  }
  await rmdir(path);
  return count;
}
