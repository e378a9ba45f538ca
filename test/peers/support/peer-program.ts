import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const manifest = z.object({ bin: z.record(z.string(), z.string()) });

/** The file of a command of a package that `npm run test:peers` has installed. */
export async function peerProgram(name: string, command: string): Promise<string> {
  const folder = process.env['JETLOOP_PEERS'];
  if (folder === undefined) throw new Error('this suite is run by npm run test:peers');
  const home = join(folder, 'node_modules', name);
  const { bin } = manifest.parse(JSON.parse(await readFile(join(home, 'package.json'), 'utf8')));
  const file = bin[command];
  if (file === undefined)
    throw new Error(`${name} has no command ${command}: expected one of ${Object.keys(bin).join()}`);
  return join(home, file);
}
