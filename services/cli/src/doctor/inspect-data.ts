import { dataDirOf, hasData } from '../embedded/data-dir.js';
import { runningIn } from '../embedded/running-services.js';
import type { Finding } from './finding.js';

/** Where the embedded servers of the folder keep their data, and whether they run. */
export async function inspectData(folder: string, env: NodeJS.ProcessEnv): Promise<Finding> {
  const dataDir = await dataDirOf(folder, env);
  const running = await runningIn(dataDir);
  const state = (await hasData(dataDir)) ? 'data of earlier runs' : 'nothing has run here yet';
  const what = running ? `\`jetloop up\` runs, process ${running.pid}, ${running.natsUrl}` : state;
  return { name: 'data folder', state: 'ok', detail: `${dataDir} (${what})` };
}
