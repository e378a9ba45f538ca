import { access, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startProcess } from '../server-process.js';
import type { SystemUser } from './postgres-user.js';

const TIMEOUT_MS = 60_000;

export interface ClusterSpec {
  /** Folder that holds `data`, the password and the logs. */
  readonly folder: string;
  readonly programs: string;
  readonly user: SystemUser | undefined;
  readonly superuser: string;
  readonly password: string;
  /** Whether the new files are forced to the disk. */
  readonly sync: boolean;
}

/** Creates the cluster unless it is there. What was begun and not finished is thrown away. */
export async function initialiseCluster(spec: ClusterSpec): Promise<void> {
  const data = join(spec.folder, 'data');
  const exists = await access(data).then(
    () => true,
    () => false, // the first start
  );
  if (exists) return;
  const unfinished = join(spec.folder, 'unfinished');
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(join(unfinished, 'data'), { recursive: true, mode: 0o700 });
  const passwordFile = join(unfinished, 'password');
  await writeFile(passwordFile, `${spec.password}\n`, { mode: 0o600 });
  const { user } = spec;
  if (user !== undefined)
    for (const path of [unfinished, join(unfinished, 'data'), passwordFile]) await chown(path, user.uid, user.gid);
  const program = await startProcess({
    name: 'initdb',
    program: join(spec.programs, 'bin', 'initdb'),
    args: [
      ...[`--pgdata=${join(unfinished, 'data')}`, `--username=${spec.superuser}`, `--pwfile=${passwordFile}`],
      // The same order of texts on every machine: Postgres brings this locale along.
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ...['--auth=scram-sha-256', '--no-instructions', ...(spec.sync ? [] : ['--no-sync'])],
    ],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    logFile: join(spec.folder, 'initdb.log'),
    ...(user === undefined ? {} : { user }),
  });
  await program.toEnd(TIMEOUT_MS);
  await rename(join(unfinished, 'data'), data);
  await rm(unfinished, { recursive: true, force: true });
}
