import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The superuser's password, made at the first start and kept beside the cluster, readable by its owner only. */
export async function superuserPassword(folder: string): Promise<string> {
  const file = join(folder, 'password');
  const kept = await readFile(file, 'utf8').catch(() => ''); // the first start
  if (kept !== '') return kept;
  const made = randomBytes(18).toString('base64url');
  await writeFile(file, made, { mode: 0o600 });
  return made;
}
