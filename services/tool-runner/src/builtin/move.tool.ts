import { rename } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import { WorkspaceError } from '../tool/workspace-error.js';
import { lstatOrNothing } from './write-atomic.js';

const ENTRY = { followLast: false };

export const moveTool = defineTool({
  name: 'move',
  description:
    'Moves or renames a file or folder of the workspace, making missing folders. An existing destination is kept unless overwrite is set.',
  input: z.object({
    from: z.string(),
    to: z.string().describe('The new path itself, not the folder to move into'),
    overwrite: z.boolean().default(false).describe('Replace an existing file'),
  }),
  async run({ from, to, overwrite }, { workspace }) {
    const [source, target] = await Promise.all([workspace.resolve(from, ENTRY), workspace.resolve(to, ENTRY)]);
    const names = { from: workspace.display(source), to: workspace.display(target) };
    if (target === source) throw new WorkspaceError('exists', `${names.to}: from and to are the same`);
    if (target.startsWith(`${source}/`))
      throw new WorkspaceError('invalid_path', `${names.to}: lies within ${names.from}`);
    await workspace.withParent(from, ENTRY, async (oldFolder, oldName) => {
      const old = oldFolder.entry(oldName);
      // Asked first: a move that cannot be must not leave new folders behind.
      if (!(await lstatOrNothing(old)))
        throw new WorkspaceError('not_found', `${names.from}: no such file or directory`);
      await workspace.withParent(to, { ...ENTRY, create: true }, async (newFolder, newName) => {
        const existing = await lstatOrNothing(newFolder.entry(newName));
        if (existing && (!overwrite || existing.isDirectory()))
          throw new WorkspaceError(
            'exists',
            `${names.to}: already exists${existing.isDirectory() ? ' and is a directory' : ''}`,
          );
        await rename(old, newFolder.entry(newName));
      });
    });
    return `Moved ${names.from} to ${names.to}.`;
  },
});
