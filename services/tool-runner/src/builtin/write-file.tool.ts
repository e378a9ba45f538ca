import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import { withFileLock } from './file-lock.js';
import { writeAtomic } from './write-atomic.js';

export const writeFileTool = defineTool({
  name: 'write_file',
  description: 'Writes a text file of the workspace, making missing folders and replacing an existing file.',
  input: z.object({
    path: z.string().describe('Path in the workspace'),
    content: z.string().describe('The whole text of the file'),
  }),
  idempotent: true,
  async run({ path, content }, { workspace }) {
    const file = await workspace.resolve(path);
    const { created } = await withFileLock(file, () => writeAtomic(workspace, path, content));
    return `${created ? 'Created' : 'Replaced'} ${workspace.display(file)} (${Buffer.byteLength(content)} bytes).`;
  },
});
