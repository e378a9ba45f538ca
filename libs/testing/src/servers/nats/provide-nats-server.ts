import type { Environment } from '../environment.js';
import { InfraError } from '../infra-error.js';
import { type FetchWay, fetchNatsServer } from './fetch-nats-server.js';
import { findNatsServer, type FoundNatsServer } from './find-nats-server.js';

/** All the ways to a NATS server, for messages. */
export const NATS_WAYS = [
  'set NATS_URL to a running NATS server (2.12 or newer, with JetStream)',
  'set JETLOOP_INFRA=containers where containers can be run',
  'set NATS_SERVER_BIN to a nats-server program, or put one on the PATH',
  'make the Debian archive (through apt-get) or the release archive of nats-server reachable, so that it can be fetched',
] as const;

/** Finds a nats-server or fetches one. */
export async function provideNatsServer(
  env: Environment,
  onProgress: (line: string) => void,
  ways?: Readonly<Record<string, FetchWay>>,
): Promise<FoundNatsServer> {
  const search = await findNatsServer(env);
  for (const reason of search.rejected) onProgress(`Not used: ${reason}`);
  if (search.found !== undefined) return search.found;
  const fetched = await fetchNatsServer(env, onProgress, ways);
  if ('found' in fetched) return fetched.found;
  const tried = [...search.rejected, ...fetched.failures].map((reason) => `  - ${reason}`);
  throw new InfraError(
    ['No NATS server. Tried:', ...tried, 'Ways to one:', ...NATS_WAYS.map((way) => `  - ${way}`)].join('\n'),
  );
}
