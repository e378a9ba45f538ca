import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { dataDirOf } from './data-dir.js';

const runningSchema = z.object({
  pid: z.number().int().positive(),
  natsUrl: z.string(),
  databaseUrl: z.string(),
});

/** What `jetloop up` says to the other commands of its folder. */
export type RunningServices = z.infer<typeof runningSchema>;

const FILE = 'up.json';

/** The services that `jetloop up` keeps running for a folder; undefined when there are none. */
export async function findRunning(folder: string, env: NodeJS.ProcessEnv): Promise<RunningServices | undefined> {
  return runningIn(await dataDirOf(folder, env));
}

/** The same by the data folder. */
export async function runningIn(dataDir: string): Promise<RunningServices | undefined> {
  const text = await readFile(join(dataDir, FILE), 'utf8').catch(() => undefined); // none was started here
  if (text === undefined) return undefined;
  const { data } = runningSchema.safeParse(parseJson(text));
  return data && isAlive(data.pid) ? data : undefined;
}

/** Says that services run. @returns a function that takes it back */
export async function announceRunning(dataDir: string, running: RunningServices): Promise<() => Promise<void>> {
  const file = join(dataDir, FILE);
  // Whole or not at all, and for its owner only: the database's address holds its password.
  await writeFile(`${file}.new`, JSON.stringify(running), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return () => rm(file, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EPERM';
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not written by us: it says nothing.
  }
}
