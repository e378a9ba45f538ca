import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAptList, parseAptStanzas, pickDebianMirror } from './debian-mirror.js';

/** The Debian archive mirror that this machine is configured for, if any. */
export async function configuredDebianMirror(etcApt = '/etc/apt'): Promise<string | undefined> {
  const parts = await readdir(join(etcApt, 'sources.list.d')).catch(() => []); // not a machine with apt
  const files = ['sources.list', ...parts.toSorted().map((name) => join('sources.list.d', name))];
  const sources = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(etcApt, file), 'utf8').catch(() => ''); // absent or not readable: no source
      if (file.endsWith('.sources')) return parseAptStanzas(text);
      return file.endsWith('.list') ? parseAptList(text) : [];
    }),
  );
  return pickDebianMirror(sources.flat());
}
