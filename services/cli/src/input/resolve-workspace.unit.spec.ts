import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveWorkspace } from './resolve-workspace.js';

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'jetloop-ws-')));
  await mkdir(join(root, 'inner', '..dots'), { recursive: true });
  await writeFile(join(root, 'file'), '');
  await symlink(tmpdir(), join(root, 'link'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

it.each([
  ['.', ''],
  ['inner', 'inner'],
  ['inner/..dots', 'inner/..dots'],
  ['inner/..', ''],
])('takes %j in the current folder', async (workspace, expected) => {
  expect(await resolveWorkspace(root, workspace)).toBe(join(root, expected));
});

it.each([
  ['..', 'lies outside the current folder'],
  ['/', 'lies outside the current folder'],
  ['link', 'lies outside the current folder'],
  ['nowhere', 'does not exist'],
  ['file', 'is not a folder'],
])('refuses %j: %s', async (workspace, message) => {
  await expect(resolveWorkspace(root, workspace)).rejects.toThrow(message);
});
