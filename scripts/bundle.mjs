// Bundles services into dist/<service>.js: one that starts reads a few files in place of a thousand, and is ready in half the time.
import { build } from 'esbuild';
import { glob, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Not hook-policy: policies in TypeScript import it, and share its modules. */
const SERVICES = ['acp-bridge', 'llm-router', 'loop-orchestrator', 'session-projector', 'tool-runner'];

/** What packages ask for that may be missing, and is: NestJS's other transports, native Postgres. */
const OPTIONAL = [
  ...['@grpc/*', '@nats-io/*', 'amqp-connection-manager', 'amqplib', 'ioredis', 'kafkajs', 'mqtt', 'pg-native'],
  ...['@nestjs/platform-express', '@nestjs/platform-socket.io', '@nestjs/websockets', '@nestjs/websockets/*'],
  ...['class-transformer', 'class-transformer/*', 'class-validator'],
];

/**
 * What stays outside: what has to be there before the packages that use it, since only imports from outside keep their place
 * among shared files, and what looks for a program beside itself.
 */
const OUTSIDE = ['reflect-metadata', '@vscode/ripgrep'];

/** Packages that are no ES modules ask with `require`. */
const REQUIRE =
  "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);";

/** Makes the bundles anew where something was built, or installed, since. */
export async function bundle(root) {
  const target = join(root, 'dist');
  if (await isCurrent(root, target)) return;
  await rm(target, { recursive: true, force: true });
  await build({
    entryPoints: SERVICES.map((service) => ({
      in: join(root, 'services', service, 'dist/main.js'),
      out: service,
    })),
    outdir: target,
    bundle: true,
    splitting: true,
    chunkNames: 'shared-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // NestJS and errors are told apart by the names of classes.
    keepNames: true,
    external: [...OPTIONAL, ...OUTSIDE],
    banner: { js: REQUIRE },
    logLevel: 'warning',
  });
}

async function isCurrent(root, target) {
  const bundles = await readdir(target).catch(() => []);
  if (!SERVICES.every((service) => bundles.includes(`${service}.js`))) return false;
  const oldest = Math.min(...(await timesOf(target, bundles)));
  const sources = ['package-lock.json', 'scripts/bundle.mjs'];
  for await (const file of glob('{libs,services}/*/dist/**/*.js', { cwd: root })) sources.push(file);
  return (await timesOf(root, sources)).every((time) => time <= oldest);
}

const timesOf = (folder, files) =>
  Promise.all(files.map((file) => stat(join(folder, file)).then(({ mtimeMs }) => mtimeMs)));
