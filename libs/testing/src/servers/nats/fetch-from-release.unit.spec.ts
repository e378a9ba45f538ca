import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../run-program.js';
import { fetchFromRelease } from './fetch-from-release.js';
import { NATS_RELEASE, releaseArchiveName } from './release-archive.js';

const PROGRAM = "#!/bin/sh\necho 'nats-server: v2.15.1'\n";

describe('fetchFromRelease', () => {
  let folder: string;
  let server: Server;
  let releases: string;
  const files = new Map<string, Buffer>();
  const name = releaseArchiveName('linux', 'x64')!;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jetloop-release-'));
    const here = releaseArchiveName(process.platform, process.arch) ?? name;
    await mkdir(join(folder, 'made', here), { recursive: true });
    await writeFile(join(folder, 'made', here, 'nats-server'), PROGRAM);
    await runProgram('tar', ['-czf', 'made.tar.gz', '-C', 'made', here], { cwd: folder, timeoutMs: 5_000 });
    const archive = await readFile(join(folder, 'made.tar.gz'));
    const sum = createHash('sha256').update(archive).digest('hex');
    files.set(`/v${NATS_RELEASE}/${here}.tar.gz`, archive);
    files.set(`/v${NATS_RELEASE}/SHA256SUMS`, Buffer.from(`${'0'.repeat(64)}  other.zip\n${sum}  ${here}.tar.gz\n`));
    server = createServer((request, response) => {
      const content = files.get(request.url ?? '');
      response.writeHead(content === undefined ? 404 : 200).end(content);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    releases = `http://127.0.0.1:${address.port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    files.clear();
    await rm(folder, { recursive: true });
  });

  it('unpacks an archive that has the published checksum', async () => {
    const program = await fetchFromRelease(folder, () => undefined, releases);
    expect(await readFile(program, 'utf8')).toBe(PROGRAM);
  });

  it('refuses an archive that has another checksum', async () => {
    for (const [path, content] of files)
      if (path.endsWith('.gz')) files.set(path, Buffer.concat([content, Buffer.from('x')]));
    await expect(fetchFromRelease(folder, () => undefined, releases)).rejects.toThrow('not used');
  });

  it('refuses an archive without a published checksum', async () => {
    files.set(`/v${NATS_RELEASE}/SHA256SUMS`, Buffer.from(`${'0'.repeat(64)}  other.zip\n`));
    await expect(fetchFromRelease(folder, () => undefined, releases)).rejects.toThrow('does not name');
  });

  it('says what the server answered when there is no such release', async () => {
    files.clear();
    await expect(fetchFromRelease(folder, () => undefined, releases)).rejects.toThrow('answered 404');
  });

  it('knows the names of the published archives', () => {
    expect(name).toBe('nats-server-v2.15.1-linux-amd64');
    expect(releaseArchiveName('darwin', 'arm64')).toBe('nats-server-v2.15.1-darwin-arm64');
    expect(releaseArchiveName('sunos', 'x64')).toBeUndefined();
  });
});
