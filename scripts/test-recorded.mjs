// Runs the services on a folder of recorded provider answers: npm run test:recorded -- <folder>
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';

const [folder, ...more] = process.argv.slice(2);
if (folder === undefined) {
  console.error('expected the folder with the recordings: npm run test:recorded -- <folder>');
  process.exit(2);
}
const root = join(import.meta.dirname, '..');
const jest = join(root, 'node_modules/jest/bin/jest.js');
const flags = ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning'];
// npm runs scripts in the package root; INIT_CWD is where the caller stands.
const recordings = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
const run = spawn(process.execPath, [...flags, jest, '--selectProjects', 'recorded', ...more], {
  cwd: root,
  env: { ...process.env, JETLOOP_RECORDED: recordings },
  stdio: 'inherit',
});
run.on('exit', (code) => process.exit(code ?? 1));
