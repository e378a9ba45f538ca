import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findNatsServer } from './find-nats-server.js';

describe('findNatsServer', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jetloop-find-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const program = async (path: string, output: string) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `#!/bin/sh\necho '${output}'\n`, { mode: 0o755 });
  };
  const environment = () => ({
    NATS_SERVER_BIN: join(folder, 'mine'),
    PATH: join(folder, 'path'),
    JETLOOP_CACHE: join(folder, 'cache'),
  });

  it('prefers the named program, then the path, then the cache', async () => {
    const env = environment();
    await program(join(folder, 'cache/bin/nats-server'), 'nats-server: v2.12.1');
    expect((await findNatsServer(env)).found?.version).toBe('2.12.1');
    await program(join(folder, 'path/nats-server'), 'nats-server: v2.12.2');
    expect((await findNatsServer(env)).found?.version).toBe('2.12.2');
    await program(env.NATS_SERVER_BIN, 'nats-server: v2.12.3');
    expect(await findNatsServer(env)).toEqual({
      found: { path: env.NATS_SERVER_BIN, version: '2.12.3' },
      rejected: [],
    });
  });

  it('passes by what is too old or something else, and says so', async () => {
    const env = environment();
    await program(env.NATS_SERVER_BIN, 'hello');
    await program(join(folder, 'path/nats-server'), 'nats-server: v2.10.9');
    const { found, rejected } = await findNatsServer(env);
    expect(found).toBeUndefined();
    expect(rejected).toEqual([
      expect.stringContaining('does not print a version'),
      expect.stringContaining('is 2.10.9, older than 2.12.0'),
    ]);
  });

  it('says when the named program is not there', async () => {
    expect((await findNatsServer(environment())).rejected).toEqual([expect.stringContaining('$NATS_SERVER_BIN')]);
  });
});
