import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { awaitFormerServer } from '../former-server.js';
import { freePort } from '../free-port.js';
import { InfraError } from '../infra-error.js';
import type { StartedServer } from '../infra.js';
import type { Reaper } from '../reaper.js';
import { type ServerProcess, startProcess } from '../server-process.js';
import { initialiseCluster } from './initialise-cluster.js';
import { postgresFolder } from './postgres-programs.js';
import { firstClosedFolder, postgresUser } from './postgres-user.js';
import { reachablePrograms } from './reachable-programs.js';
import { superuserPassword } from './superuser-password.js';

const SUPERUSER = 'jetloop';
const START_TIMEOUT_MS = 60_000;
const PORT_TRIES = 3;

export interface PostgresStart {
  /** Holds the cluster and its logs. An initialised cluster is used again. */
  readonly folder: string;
  /** Temporary data need not survive: the files are not forced to disk at creation, the stop does not write a checkpoint. */
  readonly temporary: boolean;
  readonly flags: readonly string[];
  readonly reaper: Reaper;
}

/** Starts Postgres on a free port of 127.0.0.1 and waits until it accepts connections. */
export async function startPostgres(start: PostgresStart): Promise<StartedServer> {
  const data = join(start.folder, 'data');
  await mkdir(start.folder, { recursive: true });
  const [installed, user] = await Promise.all([postgresFolder(), postgresUser(data)]);
  if (user !== undefined) {
    await chmod(start.folder, 0o711);
    const closed = await firstClosedFolder(start.folder, user);
    if (closed !== undefined)
      throw new InfraError(
        `Postgres does not run as root but as user ${user.uid}, which may not pass ${closed}. Choose a data folder that it can reach, or run as another user.`,
      );
  }
  const programs = await reachablePrograms(installed, user, start.folder);
  await awaitFormerServer(join(data, 'postmaster.pid'), 'postgres');
  const password = await superuserPassword(start.folder);
  const { folder, temporary } = start;
  await initialiseCluster({ folder, programs, user, superuser: SUPERUSER, password, sync: !temporary });

  const startOn = async (port: number): Promise<ServerProcess> => {
    const server = await startProcess({
      name: 'Postgres',
      program: join(programs, 'bin', 'postgres'),
      args: [...['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1'], ...QUIET, ...start.flags],
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      logFile: join(folder, 'postgres.log'),
      ...(user === undefined ? {} : { user }),
    });
    start.reaper.watch(server.pid);
    try {
      await server.until(() => readReadiness(join(data, 'postmaster.pid'), server.pid), START_TIMEOUT_MS);
      return server;
    } catch (error) {
      await server.stop('SIGINT');
      throw error;
    }
  };

  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    try {
      const server = await startOn(port);
      const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
      return { url, stop: () => server.stop(temporary ? 'SIGQUIT' : 'SIGINT') };
    } catch (error) {
      const isPortTaken = error instanceof InfraError && error.message.includes('could not bind');
      if (!isPortTaken || tries === PORT_TRIES) throw error;
    }
  }
}

/** No socket file, which would need a folder of its own, and no line a connection in the log. */
const QUIET = ['-c', 'unix_socket_directories=', '-c', 'log_checkpoints=off'];

/** The last line of `postmaster.pid` says `ready` when connections are accepted; the first is the process id. */
async function readReadiness(pidFile: string, pid: number): Promise<true | undefined> {
  const text = await readFile(pidFile, 'utf8').catch(() => ''); // not written yet
  const lines = text.split('\n');
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready' ? true : undefined;
}
