import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataDirOf } from './data-dir.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jetloop-data-'));
  await chmod(folder, 0o755);
  await mkdir(join(folder, 'open'), { mode: 0o755 });
  await mkdir(join(folder, 'closed', 'below'), { recursive: true });
  await chmod(join(folder, 'closed'), 0o700);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('lies in the current folder', async () => {
  expect(await dataDirOf(join(folder, 'open'), {}, true)).toBe(join(folder, 'open', '.jetloop'));
  expect(await dataDirOf(join(folder, 'closed'), {}, false)).toBe(join(folder, 'closed', '.jetloop'));
});

it('lies elsewhere, by the hash of the folder, where root works in a closed folder', async () => {
  const below = join(folder, 'closed', 'below');
  const path = await dataDirOf(below, {}, true);
  expect(path).toMatch(/^\/var\/tmp\/jetloop-[0-9a-f]{12}$/);
  expect(await dataDirOf(join(folder, 'closed'), {}, true)).not.toBe(path);
  const home = join(folder, 'open');
  expect(await dataDirOf(below, { XDG_DATA_HOME: home }, true)).toBe(
    path.replace('/var/tmp/jetloop-', `${home}/jetloop/`),
  );
  expect(await dataDirOf(below, { XDG_DATA_HOME: below }, true)).toBe(path);
});
