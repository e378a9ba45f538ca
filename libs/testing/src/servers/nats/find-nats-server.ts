import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cacheFolder } from '../cache-folder.js';
import { type Environment, variable } from '../environment.js';
import { runProgram } from '../run-program.js';
import { isSupportedNatsVersion, MINIMUM_NATS_VERSION, parseNatsVersion } from './nats-version.js';
import { errorMessage } from '../error-facts.js';

export interface FoundNatsServer {
  readonly path: string;
  readonly version: string;
}

export interface NatsServerSearch {
  readonly found?: FoundNatsServer;
  /** Programs that exist and cannot be used, each with the reason. */
  readonly rejected: readonly string[];
}

/** Where the project keeps the nats-server that it fetched. */
export function cachedNatsServer(env: Environment): string {
  return join(cacheFolder(env), 'bin', 'nats-server');
}

/** Looks at `$NATS_SERVER_BIN`, the path and the cache, in this order, for a nats-server of 2.12 or newer. */
export async function findNatsServer(env: Environment): Promise<NatsServerSearch> {
  const rejected: string[] = [];
  for (const path of candidates(env)) {
    const result = await inspectProgram(path);
    if (result === undefined) {
      if (path === variable(env, 'NATS_SERVER_BIN')) rejected.push(`${path} ($NATS_SERVER_BIN) cannot be executed`);
      continue;
    }
    if (typeof result !== 'string') return { found: result, rejected };
    rejected.push(result);
  }
  return { rejected };
}

/** The program at a path if it is usable, the reason if it is not, nothing if there is no program. */
export async function inspectProgram(path: string): Promise<FoundNatsServer | string | undefined> {
  try {
    await access(path, constants.X_OK);
  } catch {
    return undefined; // nothing there that can be executed: the next place is looked at
  }
  try {
    const version = parseNatsVersion(await runProgram(path, ['--version'], { timeoutMs: 5_000 }));
    if (version === undefined) return `${path} does not print a version of nats-server`;
    if (!isSupportedNatsVersion(version)) return `${path} is ${version}, older than ${MINIMUM_NATS_VERSION}`;
    return { path, version };
  } catch (error) {
    return `${path} does not run: ${errorMessage(error)}`;
  }
}

function candidates(env: Environment): string[] {
  const named = variable(env, 'NATS_SERVER_BIN');
  const folders = (variable(env, 'PATH') ?? '').split(delimiter).filter((folder) => folder !== '');
  return [
    ...(named === undefined ? [] : [named]),
    ...folders.map((folder) => join(folder, 'nats-server')),
    cachedNatsServer(env),
  ];
}
