import { lstat, readdir } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import type { Directory } from '../tool/directory.js';
import { errnoOf } from '../tool/workspace-error.js';

export const listDirTool = defineTool({
  name: 'list_dir',
  description:
    'Lists a folder of the workspace, one entry a line: "name/" for folders, "name@" for symbolic links, "name  size" for files.',
  input: z.object({
    path: z.string().default('.').describe('Path in the workspace'),
    offset: z.int().min(0).default(0).describe('Entries to skip'),
    limit: z.int().min(1).max(1000).default(500),
  }),
  readonly: true,
  run({ path, offset, limit }, { workspace }) {
    return workspace.withDirectory(path, {}, async (directory) => {
      const names = (await readdir(directory.path)).sort();
      const shown = names.slice(offset, offset + limit);
      const lines = await Promise.all(shown.map((name) => describeEntry(directory, name)));
      if (names.length === 0) return '[the folder is empty]';
      const end = offset + shown.length;
      if (end < names.length) lines.push(`[${names.length - end} more entries; go on with offset ${end}]`);
      if (shown.length === 0) lines.push(`[the folder has only ${names.length} entries]`);
      return lines.join('\n');
    });
  },
});

async function describeEntry(directory: Directory, name: string): Promise<string> {
  try {
    const entry = await lstat(directory.entry(name));
    if (entry.isDirectory()) return `${name}/`;
    return entry.isSymbolicLink() ? `${name}@` : `${name}  ${entry.size}`;
  } catch (error) {
    // It went away between the listing and the look at it.
    if (errnoOf(error) === 'ENOENT') return name;
    throw error;
  }
}
