import { realpath } from 'node:fs/promises';
import type { CommandIo } from '../command-io.js';
import { dataDirOf } from '../embedded/data-dir.js';
import { findRunning } from '../embedded/running-services.js';
import { checkNatsUrl } from '../input/check-nats-url.js';
import { loadModels } from '../input/load-models.js';
import { loadPolicies } from '../input/load-policies.js';
import { loadServiceSettings } from '../input/load-service-settings.js';
import { resolveWorkspace } from '../input/resolve-workspace.js';
import { UsageError } from '../usage-error.js';
import type { RunPlan } from './run-plan.js';

/** What says which services carry out a command. */
export interface WhereOptions {
  readonly workspace?: string | undefined;
  readonly nats?: string | undefined;
  readonly policies?: readonly string[] | undefined;
  readonly models?: string | undefined;
}

/** The services named by --nats, or the ones of `jetloop up` in this folder; else all of them in this process. @throws UsageError */
export async function planWhere(options: WhereOptions, io: CommandIo): Promise<RunPlan['where']> {
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

function refuseOwn({ policies, models }: WhereOptions, services: string): void {
  const own = [...(policies ? ['--policies'] : []), ...(models === undefined ? [] : ['--models'])];
  if (own.length > 0)
    throw new UsageError(
      `${own.join(' and ')} cannot be used with ${services}: the services that run there have their own.`,
    );
}

async function planEmbedded(
  { workspace = '.', policies = [], models }: WhereOptions,
  io: CommandIo,
): Promise<RunPlan['where']> {
  const [root, resolved] = await Promise.all([realpath(io.folder), resolveWorkspace(io.folder, workspace)]);
  const policySets = await loadPolicies(policies);
  const settings = await loadServiceSettings(io);
  const catalogue = await loadModels(models, io.env);
  const dataDir = await dataDirOf(root, io.env);
  return { kind: 'embedded', root, workspace: resolved, catalogue, policySets, settings, dataDir };
}
