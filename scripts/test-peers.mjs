// Runs the suite `peers`: published ACP agents and clients against Jetloop. Installs them into a folder of their own first.
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Exactly these: another version is another program. */
const PACKAGES = {
  '@agentclientprotocol/claude-agent-acp': '0.101.0',
  'opencode-ai': '1.18.33',
  acpx: '0.19.1',
};
/** Packages whose install script puts their program where it belongs. */
const SCRIPTS = { 'opencode-ai': true };
const INSTALL_MS = 900_000;

const root = join(import.meta.dirname, '..');
const { JETLOOP_CACHE, XDG_CACHE_HOME } = process.env;
const cache = JETLOOP_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'jetloop');
const folder = join(cache, 'peers');

async function isInstalled([name, version]) {
  const text = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8').catch(() => '{}');
  return JSON.parse(text).version === version;
}

const wanted = Object.entries(PACKAGES);
const names = wanted.map(([name, version]) => `${name}@${version}`).join(', ');
if (!(await Promise.all(wanted.map(isInstalled))).every(Boolean)) {
  console.error(`installing ${names} into ${folder}`);
  await mkdir(folder, { recursive: true });
  const manifest = { name: 'peers', private: true, dependencies: PACKAGES, allowScripts: SCRIPTS };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest, undefined, 2));
  const flags = ['install', '--prefix', folder, '--no-audit', '--no-fund'];
  const { status, error } = spawnSync('npm', flags, { cwd: folder, stdio: 'inherit', timeout: INSTALL_MS });
  if (status !== 0) {
    console.error(
      `The suite was not run: npm could not install ${names} (${error?.message ?? `exit code ${status}`}).`,
    );
    process.exit(1);
  }
}
const jest = join(root, 'node_modules/jest/bin/jest.js');
const flags = ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning'];
const { status } = spawnSync(
  process.execPath,
  [...flags, jest, '--selectProjects', 'peers', ...process.argv.slice(2)],
  {
    cwd: root,
    env: { ...process.env, JETLOOP_PEERS: folder },
    stdio: 'inherit',
  },
);
process.exit(status ?? 1);
