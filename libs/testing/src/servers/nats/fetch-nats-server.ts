import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Environment } from '../environment.js';
import { fetchFromDebian } from './fetch-from-debian.js';
import { fetchFromRelease } from './fetch-from-release.js';
import { cachedNatsServer, type FoundNatsServer, inspectProgram } from './find-nats-server.js';
import { errorMessage } from '../error-facts.js';

/** A way to get the program: puts it somewhere under the folder and returns its path. */
export type FetchWay = (folder: string, onProgress: (line: string) => void) => Promise<string>;

export type FetchResult = { readonly found: FoundNatsServer } | { readonly failures: readonly string[] };

const WAYS: Readonly<Record<string, FetchWay>> = {
  'Debian archive': fetchFromDebian,
  'release archive': fetchFromRelease,
};

/**
 * Fetches nats-server into the cache. Several processes may do it at once: each works in a folder of its own and the
 * last step is an atomic rename of the same program.
 */
export async function fetchNatsServer(
  env: Environment,
  onProgress: (line: string) => void,
  ways = WAYS,
): Promise<FetchResult> {
  const target = cachedNatsServer(env);
  await mkdir(dirname(target), { recursive: true });
  const failures: string[] = [];
  for (const [name, fetchTo] of Object.entries(ways)) {
    const folder = await mkdtemp(join(dirname(target), 'fetch-'));
    try {
      const program = await fetchTo(folder, onProgress);
      await chmod(program, 0o755);
      const result = await inspectProgram(program);
      if (result === undefined || typeof result === 'string') throw new Error(result ?? `${program} is missing`);
      await rename(program, target);
      return { found: { path: target, version: result.version } };
    } catch (error) {
      failures.push(`${name}: ${errorMessage(error)}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return { failures };
}
