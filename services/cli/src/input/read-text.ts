import { readFile } from 'node:fs/promises';
import { UsageError } from '../usage-error.js';

/** The text of a file that the command line names. @throws UsageError */
export async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    const why =
      code === 'ENOENT'
        ? 'does not exist'
        : code === 'EISDIR'
          ? 'is a folder'
          : `cannot be read (${String(code ?? error)})`;
    throw new UsageError(`The ${what} ${file} ${why}.`);
  }
}
