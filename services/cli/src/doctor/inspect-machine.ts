import { inspectServers } from '@jetloop/testing';
import type { Finding } from './finding.js';
import { inspectData } from './inspect-data.js';
import { inspectModel } from './inspect-model.js';
import { inspectProgram } from './inspect-program.js';
import { inspectNats, inspectPostgres } from './inspect-server.js';

const WANTED_NODE = 24;

/** Looks at everything that a run needs or can use. Starts and fetches nothing. */
export async function inspectMachine(env: NodeJS.ProcessEnv, folder: string): Promise<Finding[]> {
  const servers = await inspectServers(env);
  const [nats, postgres, data, bash, git, rg] = await Promise.all([
    inspectNats(servers.nats, env['NATS_URL']),
    inspectPostgres(servers.postgres, env['DATABASE_URL']),
    inspectData(folder, env),
    inspectProgram('bash', env, 'the tool bash runs commands with it; install the package bash'),
    inspectProgram('git', env, 'agents often look at the history; install the package git'),
    inspectProgram('rg', env, 'the tool grep brings its own; install the package ripgrep to have it in bash too'),
  ]);
  return [inspectNode(process.versions.node), nats, postgres, data, inspectModel(env), bash, git, rg];
}

function inspectNode(version: string): Finding {
  const isWanted = Number(version.split('.')[0]) >= WANTED_NODE;
  if (isWanted) return { name: 'Node', state: 'ok', detail: version };
  return {
    name: 'Node',
    state: 'missing',
    detail: `${version} is too old`,
    remedy: `run \`npm ci\`, which brings Node ${WANTED_NODE}`,
  };
}
