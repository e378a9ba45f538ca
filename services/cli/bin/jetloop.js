#!/usr/bin/env node
// Starts the built command on Node 24: on an older Node it runs itself again with the one that the project brings along.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath, URL } from 'node:url';

const WANTED_MAJOR = 24;
const main = new URL('../dist/main.js', import.meta.url);

function fail(text) {
  process.stderr.write(`jetloop: ${text}\n`);
  process.exitCode = 3;
}

/** The same command in a child, with its signals and its exit code. */
function runWith(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal sends its signal to both: this process only waits for the child's own way to end.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', (error) => fail(`${node} does not start: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal) process.removeAllListeners(signal);
    if (signal) process.kill(process.pid, signal);
    else process.exitCode = code ?? 3;
  });
}

if (Number(process.versions.node.split('.')[0]) < WANTED_MAJOR) {
  const node = fileURLToPath(new URL('../../../node_modules/node/bin/node', import.meta.url));
  if (existsSync(node)) runWith(node);
  else
    fail(`Node ${WANTED_MAJOR} or newer is needed, this is ${process.versions.node}: run \`npm ci\`, which brings it.`);
} else if (existsSync(main)) {
  await import(main.href);
} else {
  fail('this checkout is not built yet: run `npm run build`.');
}
