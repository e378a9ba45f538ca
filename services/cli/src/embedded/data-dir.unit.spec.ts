import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataDirOf } from './data-dir.js';

let folder: string;
let work: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'jetloop-data-')));
  await chmod(folder, 0o755);
  work = join(folder, 'my work');
  await mkdir(work, { mode: 0o755 });
  await symlink(work, join(folder, 'link'));
  await mkdir(join(folder, 'home'), { mode: 0o755 });
  await mkdir(join(folder, 'closed', 'below'), { recursive: true });
  await chmod(join(folder, 'closed'), 0o700);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('lies in the data home, by name and hash of the real folder', async () => {
  const home = join(folder, 'home');
  const path = await dataDirOf(work, { XDG_DATA_HOME: home }, true);
  expect(path).toMatch(/\/home\/jetloop\/my_work-[0-9a-f]{12}$/);
  expect(await dataDirOf(join(folder, 'link'), { XDG_DATA_HOME: home }, true)).toBe(path);
  expect(await dataDirOf(work, { HOME: home, XDG_DATA_HOME: 'relative' }, false)).toBe(
    path.replace(home, join(home, '.local', 'share')),
  );
});

it('lies elsewhere where root could not let Postgres pass', async () => {
  const env = { XDG_DATA_HOME: join(folder, 'closed', 'below') };
  const path = await dataDirOf(work, env, true);
  expect(path).toMatch(/^\/var\/tmp\/jetloop-[0-9a-f]{12}$/);
  expect(await dataDirOf(join(folder, 'home'), env, true)).not.toBe(path);
  expect(await dataDirOf(work, env, false)).toContain('/closed/below/jetloop/');
});

it('never lies in the folder that agents work in', async () => {
  expect(await dataDirOf(folder, { HOME: join(folder, 'home') }, false)).toMatch(/^\/var\/tmp\/jetloop-/);
  expect(await dataDirOf(work, { XDG_DATA_HOME: work }, false)).toMatch(/^\/var\/tmp\/jetloop-/);
});
