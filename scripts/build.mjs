// Transpiles every workspace package from src/ to dist/, and bundles the services. Types are checked apart, by `npm run typecheck`.
import { transformFile } from '@swc/core';
import { cp, glob, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const isCurrent = async (source, target) => {
  const [from, to] = await Promise.all([stat(source), stat(target).catch(() => undefined)]);
  return to !== undefined && to.mtimeMs >= from.mtimeMs;
};

async function build(relative) {
  const source = join(root, relative);
  const target = join(root, relative.replace('/src/', '/dist/').replace(/\.ts$/, '.js'));
  if (await isCurrent(source, target)) return;
  await mkdir(dirname(target), { recursive: true });
  if (!relative.endsWith('.ts')) return cp(source, target);
  const { code, map } = await transformFile(source, { cwd: root, filename: source });
  await writeFile(`${target}.map`, map);
  await writeFile(target, `${code}\n//# sourceMappingURL=${target.slice(target.lastIndexOf('/') + 1)}.map\n`);
}

/** A file whose source is gone would still be imported: it goes too. */
async function prune(relative) {
  const source = relative.replace('/dist/', '/src/').replace(/\.js$/, '.ts');
  const exists = await stat(join(root, source)).catch(() => undefined);
  if (!exists) await Promise.all([rm(join(root, relative)), rm(join(root, `${relative}.map`), { force: true })]);
}

const sources = await Array.fromAsync(glob('{libs,services}/*/src/**/*.{ts,sql,json,yaml}', { cwd: root }));
await Promise.all(sources.filter((file) => !file.endsWith('.spec.ts')).map(build));
const outputs = await Array.fromAsync(glob('{libs,services}/*/dist/**/*.js', { cwd: root }));
await Promise.all(outputs.map(prune));
await bundle(root);
