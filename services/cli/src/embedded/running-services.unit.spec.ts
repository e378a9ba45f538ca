import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { announceRunning, runningIn } from './running-services.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jetloop-up-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const running = { pid: process.pid, natsUrl: 'nats://127.0.0.1:1', databaseUrl: 'postgres://127.0.0.1:1/x' };

it('finds what was announced, until it is taken back', async () => {
  expect(await runningIn(folder)).toBeUndefined();
  const takeBack = await announceRunning(folder, running);
  expect(await runningIn(folder)).toEqual(running);
  expect((await stat(join(folder, 'up.json'))).mode & 0o777).toBe(0o600);
  await takeBack();
  expect(await runningIn(folder)).toBeUndefined();
});

it('takes neither a process that has ended nor a file that is no announcement for running services', async () => {
  // No process has this number: it is above what any kernel gives.
  await announceRunning(folder, { ...running, pid: 2 ** 30 });
  expect(await runningIn(folder)).toBeUndefined();
  await writeFile(join(folder, 'up.json'), '{"pid":');
  expect(await runningIn(folder)).toBeUndefined();
});
