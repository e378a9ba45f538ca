import type { Catalogue } from '@jetloop/llm-router';
import { defaultAgent } from '../agent/default-agent.js';
import { namedAgent } from '../agent/named-agent.js';
import type { CommandIo } from '../command-io.js';
import { checkToken } from '../input/check-token.js';
import { loadSchema } from '../input/load-schema.js';
import { readPrompt } from '../input/read-prompt.js';
import { UsageError } from '../usage-error.js';
import { planWhere, type WhereOptions } from './plan-where.js';
import type { RunPlan } from './run-plan.js';

export interface RunOptions extends WhereOptions {
  readonly agent?: string | undefined;
  readonly tenant: string;
  readonly session?: string | undefined;
  /** File of a JSON Schema. */
  readonly output?: string | undefined;
}

/** Checks all that was asked for. Starts nothing, writes nothing. @throws UsageError */
export async function planRun(prompt: string, options: RunOptions, io: CommandIo): Promise<RunPlan> {
  const tenant = checkToken('--tenant', options.tenant);
  const session = options.session === undefined ? undefined : checkToken('--session', options.session);
  const text = await readPrompt(prompt, io.input);
  const agent = await namedAgent(options.agent);
  const output = await loadSchema(options.output);
  const where = await planWhere(options, io);
  if (where.kind === 'embedded')
    checkChain(agent && 'spec' in agent ? agent.spec : defaultAgent, where.catalogue, agent);
  return { prompt: text, tenant, session, agent, output, where };
}

/** A chain of which no target is known can answer nothing. An agent of another name is looked up by the services. */
export function checkChain(spec: typeof defaultAgent, catalogue: Catalogue, agent: RunPlan['agent']): void {
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
