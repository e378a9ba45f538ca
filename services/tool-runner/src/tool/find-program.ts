import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

const found = new Map<string, Promise<string | undefined>>();

/** The path of a program of this machine, looked for once; undefined where it has none. */
export function findProgram(name: string): Promise<string | undefined> {
  const known = found.get(name) ?? search(name);
  found.set(name, known);
  return known;
}

async function search(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(':').filter((one) => one.startsWith('/'))) {
    const path = join(folder, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
