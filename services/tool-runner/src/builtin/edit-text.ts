import { isUtf8 } from 'node:buffer';
import { ToolError } from '../tool/tool-error.js';
import type { Workspace } from '../tool/workspace.js';
import { withFileLock } from './file-lock.js';
import { writeAtomic } from './write-atomic.js';

const EDIT_LIMIT = 16 * 1024 * 1024;

/** Reads a text file, lets `change` make the new text, and writes it if that did not throw. Gives the file's name in the workspace. */
export async function editText(workspace: Workspace, path: string, change: (text: string) => string): Promise<string> {
  const real = await workspace.resolve(path);
  await withFileLock(real, async () => {
    const text = await readText(workspace, path);
    await writeAtomic(workspace, path, change(text));
  });
  return workspace.display(real);
}

async function readText(workspace: Workspace, path: string): Promise<string> {
  const { handle, size } = await workspace.openFile(path);
  try {
    if (size > EDIT_LIMIT)
      throw new ToolError('too_large', `Files over ${EDIT_LIMIT} bytes cannot be edited; this one has ${size}.`);
    const bytes = await handle.readFile();
    // Writing it back as UTF-8 would change bytes that nobody asked to change.
    if (!isUtf8(bytes)) throw new ToolError('not_text', 'The file is not UTF-8 text and cannot be edited.');
    return bytes.toString('utf8');
  } finally {
    await handle.close();
  }
}
