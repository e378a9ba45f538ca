import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const PATTERNS = [
  '{libs,services}/*/package.json',
  '{libs,services}/*/src/**/*.ts',
  '{libs,services}/*/bin/*.js',
  '{test,bench}/**/*.{ts,mjs}',
];

/** The texts of all sources and manifests of the repository, by path. */
export async function readSources(root: string): Promise<Record<string, string>> {
  const paths: string[] = [];
  for await (const path of glob(PATTERNS, { cwd: root })) paths.push(path);
  const texts = await Promise.all(paths.sort().map((path) => readFile(join(root, path), 'utf8')));
  return Object.fromEntries(paths.map((path, index) => [path.replaceAll('\\', '/'), texts[index] ?? '']));
}
