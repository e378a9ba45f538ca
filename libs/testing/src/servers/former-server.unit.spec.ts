import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { awaitFormerServer } from './former-server.js';

describe('awaitFormerServer', () => {
  let folder: string;
  let former: ChildProcess;
  let pidFile: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jetloop-former-'));
    pidFile = join(folder, 'server.pid');
    former = spawn('sleep', ['60'], { stdio: 'ignore' });
    await once(former, 'spawn');
    await writeFile(pidFile, `${String(former.pid)}\nmore\n`);
  });
  afterEach(async () => {
    former.kill('SIGKILL');
    await rm(folder, { recursive: true });
  });

  it('waits until the former server has ended', async () => {
    let waiting = true;
    const ended = awaitFormerServer(pidFile, 'sleep').then(() => (waiting = false));
    await sleep(300);
    expect(waiting).toBe(true);
    former.kill('SIGKILL');
    await ended;
    expect(waiting).toBe(false);
  });

  it('does not wait where there was no server', async () => {
    await expect(awaitFormerServer(join(folder, 'missing'), 'sleep')).resolves.toBeUndefined();
  });

  it('gives up on a server that goes on, and says which process it is', async () => {
    await expect(awaitFormerServer(pidFile, 'sleep', 200)).rejects.toThrow(`process ${String(former.pid)}`);
  });
});
