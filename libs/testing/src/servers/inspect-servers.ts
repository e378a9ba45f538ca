import { join } from 'node:path';
import { chooseOrigin, type ChosenOrigin } from './choose-origin.js';
import { type Environment, variable } from './environment.js';
import { InfraError } from './infra-error.js';
import { configuredDebianMirror } from './nats/configured-mirror.js';
import { findNatsServer } from './nats/find-nats-server.js';
import { NATS_WAYS } from './nats/provide-nats-server.js';
import { releaseArchiveName } from './nats/release-archive.js';
import { POSTGRES_WAYS, postgresFolder } from './postgres/postgres-programs.js';
import { runProgram } from './run-program.js';
import { errorMessage } from './error-facts.js';

/** Where a server would come from, and what is in the way. */
export interface ServerInspection {
  readonly source: 'given' | 'containers' | 'embedded' | 'fetch' | 'none';
  readonly path?: string;
  readonly version?: string;
  readonly problem?: string;
  readonly remedy?: string;
}

export interface ServersInspection {
  readonly nats: ServerInspection;
  readonly postgres: ServerInspection;
}

/** Says where `startInfra` would take the servers from. Starts nothing, fetches nothing, connects to nothing. */
export async function inspectServers(env: Environment = process.env): Promise<ServersInspection> {
  const [nats, postgres] = await Promise.all([
    inspect(env, 'NATS_URL', () => inspectNats(env)),
    inspect(env, 'DATABASE_URL', inspectPostgres),
  ]);
  return { nats, postgres };
}

async function inspect(
  env: Environment,
  addressVariable: 'NATS_URL' | 'DATABASE_URL',
  embedded: () => Promise<ServerInspection>,
): Promise<ServerInspection> {
  let origin: ChosenOrigin;
  try {
    origin = chooseOrigin(env, addressVariable);
  } catch (error) {
    if (!(error instanceof InfraError)) throw error;
    return { source: 'none', problem: error.message, remedy: 'correct or unset JETLOOP_INFRA' };
  }
  return origin.from === 'embedded' ? embedded() : { source: origin.from };
}

async function inspectNats(env: Environment): Promise<ServerInspection> {
  const { found, rejected } = await findNatsServer(env);
  if (found !== undefined) return { source: 'embedded', ...found };
  const problem = rejected.length === 0 ? 'no nats-server on this machine yet' : rejected.join('; ');
  const mirror = await configuredDebianMirror();
  if (mirror !== undefined && variable(env, 'PATH') !== undefined)
    return {
      source: 'fetch',
      path: withoutCredentials(mirror),
      problem,
      remedy: 'nothing to do: the first start fetches it',
    };
  const archive = releaseArchiveName(process.platform, process.arch);
  if (archive !== undefined)
    return { source: 'fetch', path: archive, problem, remedy: 'nothing to do where the release archive is reachable' };
  return { source: 'none', problem, remedy: NATS_WAYS.join('; or ') };
}

async function inspectPostgres(): Promise<ServerInspection> {
  try {
    const path = join(await postgresFolder(), 'bin', 'postgres');
    const output = await runProgram(path, ['--version'], { timeoutMs: 5_000 });
    return { source: 'embedded', path, version: output.replace(/^postgres \(PostgreSQL\) /, '').trim() };
  } catch (error) {
    const problem = errorMessage(error);
    return { source: 'none', problem, remedy: POSTGRES_WAYS.join('; or ') };
  }
}

function withoutCredentials(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}
