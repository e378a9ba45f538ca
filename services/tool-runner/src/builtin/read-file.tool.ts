import { z } from 'zod';
import { binaryType, describeBinary } from '../tool/binary.js';
import { defineTool } from '../tool/define-tool.js';
import type { ToolBlock } from '../tool/tool.js';
import { LinePage } from './line-page.js';

const CHUNK = 64 * 1024;
/** Beyond this size the lines after the page are not counted: the model can page on without knowing the total. */
const COUNT_LIMIT = 64 * 1024 * 1024;

export const readFileTool = defineTool({
  name: 'read_file',
  description:
    'Reads a text file of the workspace by lines. The text is given exactly as it is in the file, without line numbers. A long file comes in pages: a note says which lines are shown and the offset to go on with.',
  input: z.object({
    path: z.string().describe('Path in the workspace'),
    offset: z.int().min(1).default(1).describe('First line, from 1'),
    limit: z.int().min(1).max(10_000).default(2000).describe('Number of lines'),
  }),
  readonly: true,
  async run({ path, offset, limit }, { workspace, signal }): Promise<ToolBlock[]> {
    const { handle, size } = await workspace.openFile(path);
    try {
      const page = new LinePage(offset, limit);
      // Files of the kernel say that they are empty and come in pieces: their end is told by a read of nothing alone.
      const length = size === 0 ? CHUNK : Math.min(CHUNK, size + 1);
      const buffer = Buffer.allocUnsafe(length);
      for (let position = 0; !page.isFull || size <= COUNT_LIMIT;) {
        signal.throwIfAborted();
        const { bytesRead } = await handle.read(buffer, 0, length, position);
        const chunk = buffer.subarray(0, bytesRead);
        const type = position === 0 ? binaryType(chunk) : undefined;
        if (type !== undefined) return [{ type: 'text', text: describeBinary(type, size) }];
        page.write(chunk);
        position += bytesRead;
        if (bytesRead > 0 && (size === 0 || bytesRead === length)) continue;
        page.end();
        break;
      }
      const { text, note } = page.read();
      return [{ type: 'text', text }, ...(note === undefined ? [] : [{ type: 'text' as const, text: note }])];
    } finally {
      await handle.close();
    }
  },
});
