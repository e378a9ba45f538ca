import { UsageError } from '../usage-error.js';
import { dataDirOf, hasData } from './data-dir.js';

/** The data of earlier runs in a folder. @throws UsageError when there is none */
export async function findData(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const dataDir = await dataDirOf(folder, env);
  if (await hasData(dataDir)) return dataDir;
  throw new UsageError(
    `Nothing has run in ${folder} yet: there is no data in ${dataDir}. Change to the folder of the run, run something first (jetloop run "..."), or name the servers (--nats, DATABASE_URL).`,
  );
}
