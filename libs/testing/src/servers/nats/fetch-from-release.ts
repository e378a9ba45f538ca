import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../run-program.js';
import { verifyChecksum } from './checksum.js';
import { NATS_RELEASE, releaseArchiveName } from './release-archive.js';

const RELEASES = 'https://github.com/nats-io/nats-server/releases/download';
const TIMEOUT_MS = 180_000;

/** Fetches the release archive of nats-server into `folder`, checks its SHA-256 and returns the program's path. */
export async function fetchFromRelease(
  folder: string,
  onProgress: (line: string) => void,
  releases = RELEASES,
): Promise<string> {
  const name = releaseArchiveName(process.platform, process.arch);
  if (name === undefined) throw new Error(`no release of nats-server for ${process.platform} on ${process.arch}`);
  const fileName = `${name}.tar.gz`;
  const from = `${releases}/v${NATS_RELEASE}`;
  onProgress(`Fetching nats-server from ${from}`);
  const [archive, sums] = await Promise.all([download(`${from}/${fileName}`), download(`${from}/SHA256SUMS`)]);
  verifyChecksum(archive, new TextDecoder().decode(sums), fileName);
  await writeFile(join(folder, fileName), archive);
  await runProgram('tar', ['-xzf', fileName], { cwd: folder, timeoutMs: TIMEOUT_MS });
  return join(folder, name, 'nats-server');
}

async function download(url: string): Promise<Uint8Array> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.bytes();
}
