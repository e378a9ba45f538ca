import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isGroupAlive, signalGroup } from '@jetloop/platform';
import { GroupReaper } from './group-reaper.js';

describe('the reaper of agents', () => {
  const groups: number[] = [];
  afterEach(() => {
    for (const group of groups.splice(0)) signalGroup(group, 'SIGKILL');
  });

  /** A process in a group of its own, as agents are. */
  async function sleeper() {
    const child = spawn('/bin/sleep', ['60'], { detached: true, stdio: 'ignore' });
    await once(child, 'spawn');
    const group = child.pid ?? NaN;
    groups.push(group);
    return { group, exited: once(child, 'exit').then(([, signal]: unknown[]) => signal) };
  }

  it('ends what is on its list when the bridge is gone, and nothing that was taken off it', async () => {
    const reaper = new GroupReaper();
    const [first, ended, last] = [await sleeper(), await sleeper(), await sleeper()];
    for (const { group } of [first, ended, last]) reaper.watch(group);
    reaper.forget(ended.group);
    reaper.close();
    await expect(Promise.all([first.exited, last.exited])).resolves.toEqual(['SIGTERM', 'SIGTERM']);
    await expect(isGroupAlive(ended.group)).resolves.toBe(true);
  });

  it('takes a group off that it does not have on its list, as often as that comes', async () => {
    const reaper = new GroupReaper();
    const { group, exited } = await sleeper();
    reaper.watch(group);
    for (let times = 0; times < 64; times++) reaper.forget(4_194_304 + times);
    reaper.close();
    await expect(exited).resolves.toBe('SIGTERM');
  });
});
