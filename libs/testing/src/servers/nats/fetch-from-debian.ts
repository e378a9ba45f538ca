import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../run-program.js';
import { configuredDebianMirror } from './configured-mirror.js';

/** The release of Debian whose nats-server is new enough; a static Go program, it runs on older releases too. */
const SUITE = 'forky';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const TIMEOUT_MS = 180_000;

/**
 * Fetches nats-server as a Debian package into `folder` and returns the program's path. apt works on a private state:
 * nothing is installed, no root is needed, and its signatures are checked.
 */
export async function fetchFromDebian(folder: string, onProgress: (line: string) => void): Promise<string> {
  const mirror = await configuredDebianMirror();
  if (mirror === undefined) throw new Error('apt is not configured for a Debian archive');
  onProgress(`Fetching nats-server from ${new URL(mirror).host} (Debian ${SUITE})`);
  const options = await privateState(folder, mirror);
  const apt = (...args: string[]) =>
    runProgram('apt-get', [...options, ...args], { cwd: folder, timeoutMs: TIMEOUT_MS });
  await apt('--quiet', 'update');
  await apt('--quiet', 'download', 'nats-server');
  const archive = (await readdir(folder)).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get download left no package behind');
  const tree = join(folder, 'package');
  await runProgram('dpkg-deb', ['--extract', archive, tree], { cwd: folder, timeoutMs: TIMEOUT_MS });
  return join(tree, 'usr', 'sbin', 'nats-server');
}

async function privateState(folder: string, mirror: string): Promise<string[]> {
  const state = join(folder, 'apt');
  const partials = ['lists/partial', 'cache/archives/partial'].map((path) => join(state, path));
  await Promise.all(partials.map((path) => mkdir(path, { recursive: true })));
  const hasKeyring = await access(KEYRING).then(
    () => true,
    () => false, // apt's own trusted keys then decide
  );
  const sources = join(state, 'sources.list');
  await writeFile(sources, `deb ${hasKeyring ? `[signed-by=${KEYRING}] ` : ''}${mirror} ${SUITE} main\n`);
  await writeFile(join(state, 'status'), '');
  const settings = {
    'Dir::State': state,
    'Dir::State::Lists': join(state, 'lists'),
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': join(state, 'cache'),
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::Etc::Preferences': '/dev/null',
    'Dir::Etc::PreferencesParts': '/dev/null',
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': userInfo().username,
    // A hook of this machine may expect root and the real state.
    'APT::Update::Post-Invoke-Success': '',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}
