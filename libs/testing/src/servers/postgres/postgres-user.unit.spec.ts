import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstClosedFolder, postgresUser } from './postgres-user.js';

/** No file of this machine belongs to it. */
const STRANGER = { uid: 4_000_001, gid: 4_000_001 };

describe('firstClosedFolder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jetloop-user-'));
    await mkdir(join(folder, 'inner'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is the folder that a stranger may not pass', async () => {
    await chmod(folder, 0o700);
    expect(await firstClosedFolder(join(folder, 'inner'), STRANGER)).toBe(folder);
  });

  it('is nothing when every folder can be passed, though not listed', async () => {
    await chmod(folder, 0o711);
    await chmod(join(folder, 'inner'), 0o711);
    expect(await firstClosedFolder(join(folder, 'inner'), STRANGER)).toBeUndefined();
  });
});

describe('postgresUser', () => {
  it('is nobody else for an ordinary user', async () => {
    expect(await postgresUser('/nowhere', false)).toBeUndefined();
  });
});
