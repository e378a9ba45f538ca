import { realpath } from 'node:fs/promises';
import type { Catalogue } from '@jetloop/llm-router';
import { defaultAgent } from '../agent/default-agent.js';
import { namedAgent } from '../agent/named-agent.js';
import type { CommandIo } from '../command-io.js';
import { dataDirOf } from '../embedded/data-dir.js';
import { checkNatsUrl } from '../input/check-nats-url.js';
import { findRunning } from '../embedded/running-services.js';
import { checkToken } from '../input/check-token.js';
import { loadModels } from '../input/load-models.js';
import { loadPolicies } from '../input/load-policies.js';
import { readPrompt } from '../input/read-prompt.js';
import { resolveWorkspace } from '../input/resolve-workspace.js';
import { UsageError } from '../usage-error.js';
import type { RunPlan } from './run-plan.js';

export interface RunOptions {
  readonly agent?: string | undefined;
  readonly workspace?: string | undefined;
  readonly tenant: string;
  readonly session?: string | undefined;
  readonly nats?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly models?: string | undefined;
}

/** Checks all that was asked for. Starts nothing, writes nothing. @throws UsageError */
export async function planRun(prompt: string, options: RunOptions, io: CommandIo): Promise<RunPlan> {
  const tenant = checkToken('--tenant', options.tenant);
  const session = options.session === undefined ? undefined : checkToken('--session', options.session);
  const text = await readPrompt(prompt, io.input);
  const agent = await namedAgent(options.agent);
  const where = await planWhere(options, io);
  if (where.kind === 'embedded')
    checkChain(agent && 'spec' in agent ? agent.spec : defaultAgent, where.catalogue, agent);
  return { prompt: text, tenant, session, agent, where };
}

/** The services named by --nats, or the ones of `jetloop up` in this folder; else all of them in this process. */
async function planWhere(options: RunOptions, io: CommandIo): Promise<RunPlan['where']> {
  const { nats, workspace = '.' } = options;
  if (nats !== undefined) {
    refuseOwn(options, '--nats');
    return { kind: 'running', natsUrl: checkNatsUrl(nats), workspace: options.workspace };
  }
  const running = await findRunning(io.folder, io.env);
  if (!running) return planEmbedded(options, io);
  refuseOwn(options, '`jetloop up` in this folder');
  return { kind: 'running', natsUrl: running.natsUrl, workspace: await resolveWorkspace(io.folder, workspace) };
}

function refuseOwn({ policies, models }: RunOptions, services: string): void {
  const own = [...(policies ? ['--policies'] : []), ...(models === undefined ? [] : ['--models'])];
  if (own.length > 0)
    throw new UsageError(
      `${own.join(' and ')} cannot be used with ${services}: the services that run there have their own.`,
    );
}

async function planEmbedded(
  { workspace = '.', policies = [], models }: RunOptions,
  io: CommandIo,
): Promise<RunPlan['where']> {
  const [root, resolved] = await Promise.all([realpath(io.folder), resolveWorkspace(io.folder, workspace)]);
  const policySets = await loadPolicies(policies);
  const catalogue = await loadModels(models, io.env);
  return { kind: 'embedded', root, workspace: resolved, catalogue, policySets, dataDir: await dataDirOf(root, io.env) };
}

/** A chain of which no target is known can answer nothing. An agent of another name is looked up by the services. */
function checkChain(spec: typeof defaultAgent, catalogue: Catalogue, agent: RunPlan['agent']): void {
  if (agent && 'name' in agent) return;
  const chain = spec.model?.chain ?? [];
  if (chain.some((target) => catalogue.has(target))) return;
  const known = [...catalogue.keys()].join(', ');
  throw new UsageError(
    chain.length === 0
      ? `The agent ${spec.name} has no model: expected model.chain with at least one of ${known}.`
      : `No model target of the agent ${spec.name} (model.chain: ${chain.join(', ')}) is known: expected one of ${known}.`,
  );
}
