import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NATS_WAYS, provideNatsServer } from './provide-nats-server.js';

const silent = () => undefined;

describe('provideNatsServer', () => {
  let cache: string;
  beforeEach(async () => {
    cache = await mkdtemp(join(tmpdir(), 'jetloop-cache-'));
  });
  afterEach(() => rm(cache, { recursive: true }));

  const broken = () => Promise.reject(new Error('mirror is down'));
  const working = async (folder: string) => {
    await writeFile(join(folder, 'program'), "#!/bin/sh\necho 'nats-server: v2.15.1'\n");
    return join(folder, 'program');
  };
  const outdated = async (folder: string) => {
    await writeFile(join(folder, 'program'), "#!/bin/sh\necho 'nats-server: v2.10.0'\n");
    return join(folder, 'program');
  };

  it('tries one way after the other and keeps only the program', async () => {
    const found = await provideNatsServer({ JETLOOP_CACHE: cache }, silent, { first: broken, second: working });
    expect(found).toEqual({ path: join(cache, 'bin', 'nats-server'), version: '2.15.1' });
    expect(await readdir(join(cache, 'bin'))).toEqual(['nats-server']);
  });

  it('fetches once: afterwards the cache has it', async () => {
    await provideNatsServer({ JETLOOP_CACHE: cache }, silent, { only: working });
    const again = await provideNatsServer({ JETLOOP_CACHE: cache }, silent, { only: broken });
    expect(again.version).toBe('2.15.1');
  });

  it('lets several fetch at once', async () => {
    const fetchOne = () => provideNatsServer({ JETLOOP_CACHE: cache }, silent, { only: working });
    const all = await Promise.all([fetchOne(), fetchOne(), fetchOne()]);
    expect(new Set(all.map(({ path }) => path)).size).toBe(1);
    expect(await readdir(join(cache, 'bin'))).toEqual(['nats-server']);
  });

  it('fails with one error that names what was tried and all the ways', async () => {
    const failing = provideNatsServer({ JETLOOP_CACHE: cache }, silent, { archive: broken, release: outdated });
    const message = await failing.then(
      () => '',
      (error: unknown) => String(error),
    );
    expect(message).toContain('archive: mirror is down');
    expect(message).toContain('release: ');
    expect(message).toContain('is 2.10.0, older than');
    for (const way of NATS_WAYS) expect(message).toContain(way);
  });
});
