import { realpath } from 'node:fs/promises';
import { withoutPassword } from '@jetloop/messaging';
import { writeJson, type CommandIo } from '../command-io.js';
import { dataDirOf, openDataDir } from '../embedded/data-dir.js';
import { announceRunning, runningIn } from '../embedded/running-services.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { loadModels } from '../input/load-models.js';
import { loadPolicies } from '../input/load-policies.js';
import { loadServiceSettings } from '../input/load-service-settings.js';
import { Progress } from '../render/progress.js';
import { styleOf } from '../render/style.js';
import { UsageError } from '../usage-error.js';

export interface UpOptions {
  readonly policies?: readonly string[] | undefined;
  readonly models?: string | undefined;
  readonly json?: boolean | undefined;
}

/** `jetloop up`: servers and services for the current folder, until ^C. */
export async function upCommand({ policies = [], models, json }: UpOptions, io: CommandIo): Promise<ExitCode> {
  const root = await realpath(io.folder);
  const policySets = await loadPolicies(policies);
  const settings = await loadServiceSettings(io);
  const catalogue = await loadModels(models, io.env);
  const dataDir = await dataDirOf(root, io.env);
  const other = await runningIn(dataDir);
  if (other)
    throw new UsageError(`\`jetloop up\` runs for ${root} already (process ${other.pid}): the other commands use it.`);
  await openDataDir(dataDir);

  const interrupted = Promise.withResolvers<undefined>();
  const stopListening = io.onInterrupt(() => {
    interrupted.resolve(undefined);
  });
  const progress = new Progress(io.err);
  try {
    progress.say('starting servers and services');
    // Only now: what is refused before needs no service, and answers at once.
    const { startStandalone } = await import('@jetloop/standalone');
    const standalone = await startStandalone({
      ...{ workspaceRoots: [root], catalogue, policySets, ...settings, dataDir },
      onProgress: progress.say,
      logLevel: io.env['LOG_LEVEL'] ?? 'warn',
    });
    const { natsUrl, databaseUrl } = standalone;
    const takeBack = await announceRunning(dataDir, { pid: process.pid, natsUrl, databaseUrl });
    try {
      progress.done();
      announce(io, { natsUrl, databaseUrl, dataDir, root }, json);
      await interrupted.promise;
      progress.say('stopping');
    } finally {
      await takeBack();
      await standalone.stop();
    }
  } finally {
    progress.done();
    stopListening();
  }
  return EXIT.completed;
}

interface Place {
  readonly natsUrl: string;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly root: string;
}

/** An embedded server's address is shown whole, for other programs; what was given may hold a real password. */
function announce(io: CommandIo, { natsUrl, databaseUrl, dataDir, root }: Place, json = false): void {
  const nats = io.env['NATS_URL'] ? withoutPassword(natsUrl) : natsUrl;
  const database = io.env['DATABASE_URL'] ? withoutPassword(databaseUrl) : databaseUrl;
  if (json) {
    writeJson(io, { up: { pid: process.pid, natsUrl: nats, databaseUrl: database, workspace: root, dataDir } });
    return;
  }
  const { done, name, dim, symbols } = styleOf(io.out);
  const rows = [
    ['NATS', nats],
    ['PostgreSQL', database],
    ['workspaces', `${root} and below`],
    ['data', dataDir],
  ] as const;
  io.out.write(`${done(symbols.done)} Jetloop runs\n`);
  for (const [label, value] of rows) io.out.write(`  ${name(label.padEnd(10))}  ${value}\n`);
  io.out.write(
    `${dim('  in another terminal, in this folder: jetloop run "...", send, tail, sessions; ^C ends it')}\n`,
  );
}
