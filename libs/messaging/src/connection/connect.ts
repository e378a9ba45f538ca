import { connect as connectNats, type ConnectionOptions, type NatsConnection } from 'nats';

/** The oldest server that has what we use: message schedules (2.12). */
export const MINIMUM_SERVER = [2, 12] as const;

/** The server cannot carry Jetloop. */
export class UnsupportedServerError extends Error {
  override readonly name = 'UnsupportedServerError';
}

/** No server answered at the address. */
export class ServerUnreachableError extends Error {
  override readonly name = 'ServerUnreachableError';
}

export interface ConnectOptions {
  /** `nats://[user:password@]host:port`, several separated by commas. */
  readonly url: string;
  /** Shown by the server in its connection lists. */
  readonly name: string;
  /** Milliseconds for the first connection; default 5,000. Afterwards it reconnects for ever. */
  readonly timeoutMs?: number;
}

/**
 * Connects and checks the server's version and JetStream.
 * @throws ServerUnreachableError, UnsupportedServerError
 */
export async function connectToNats({ url, name, timeoutMs = 5_000 }: ConnectOptions): Promise<NatsConnection> {
  const connection = await connectNats({
    ...serversOf(url),
    name,
    timeout: timeoutMs,
    maxReconnectAttempts: -1,
    noAsyncTraces: true,
  }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new ServerUnreachableError(
      `NATS at ${withoutPassword(url)} cannot be reached (${why}): is it running, and is the address right?`,
    );
  });
  const { version = 'unknown', jetstream } = connection.info ?? {};
  const problem = !isSupported(version)
    ? `nats-server ${version} is too old: expected ${MINIMUM_SERVER.join('.')} or newer`
    : jetstream === true
      ? undefined
      : 'JetStream is off: start nats-server with -js';
  if (problem === undefined) return connection;
  await connection.close();
  throw new UnsupportedServerError(`NATS at ${withoutPassword(url)}: ${problem}`);
}

export function isSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantedMajor, wantedMinor] = MINIMUM_SERVER;
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/** The client ignores credentials inside an address: they are taken out here. */
function serversOf(url: string): Pick<ConnectionOptions, 'servers' | 'user' | 'pass'> {
  const parsed = url.split(',').map((one) => new URL(one.includes('://') ? one : `nats://${one}`));
  const servers = parsed.map(({ host }) => host);
  const user = parsed[0]?.username;
  return user
    ? { servers, user: decodeURIComponent(user), pass: decodeURIComponent(parsed[0]?.password ?? '') }
    : { servers };
}

export function withoutPassword(url: string): string {
  return url.replaceAll(/:\/\/([^:@/]+):[^@/]+@/g, '://$1:***@');
}
