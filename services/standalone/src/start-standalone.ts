import { mkdir } from 'node:fs/promises';
import { AcpBridgeModule, type AcpBridgeOptions } from '@jetloop/acp-bridge';
import { HookPolicyModule, putPolicySet, type HookPolicyOptions, type PolicySet } from '@jetloop/hook-policy';
import { LlmRouterModule, type Catalogue } from '@jetloop/llm-router';
import { LoopOrchestratorModule } from '@jetloop/loop-orchestrator';
import {
  applyTopology,
  Bus,
  PolicyStore,
  startCommandService,
  startFollowerService,
  type CommandService,
} from '@jetloop/messaging';
import { createLogger, nestLogger } from '@jetloop/platform';
import { ProjectorService, SessionProjectorModule } from '@jetloop/session-projector';
import { startInfra } from '@jetloop/testing';
import { ToolRunnerModule, type ToolRunnerOptions } from '@jetloop/tool-runner';
import type { DynamicModule } from '@nestjs/common';

export interface StandaloneOptions {
  /** Folders under which sessions work. */
  readonly workspaceRoots: readonly string[];
  /** Model targets that the router knows. */
  readonly catalogue: Catalogue;
  /** Put into POLICIES before anything runs. */
  readonly policySets?: readonly PolicySet[];
  /** Plugins that policy sets may name, and where webhooks may be. Default none. */
  readonly hookPolicy?: HookPolicyOptions;
  /** Tools beside the built-in ones. Default none. */
  readonly extraTools?: ToolRunnerOptions['extraTools'];
  /** Where embedded servers keep their data; default: a temporary folder that goes at the end. */
  readonly dataDir?: string;
  /** Servers that run already; default: the ones of the environment, or embedded ones. */
  readonly servers?: { readonly natsUrl: string; readonly databaseUrl: string };
  /** Waits of external agents other than the usual ones. */
  readonly harnessTimes?: AcpBridgeOptions['times'];
  readonly onProgress?: (line: string) => void;
  /** Level of the log lines on standard error; default `warn`. */
  readonly logLevel?: string;
}

export interface Standalone {
  readonly natsUrl: string;
  readonly databaseUrl: string;
  /** Resolves once SQL holds all that the journal held when it was called. */
  projected(): Promise<void>;
  stop(): Promise<void>;
}

/** All services in one process, on embedded servers unless others are given: for a laptop, a demo, a test. */
export async function startStandalone(options: StandaloneOptions): Promise<Standalone> {
  const { onProgress, dataDir, servers } = options;
  if (dataDir !== undefined) await mkdir(dataDir, { recursive: true });
  const started = servers
    ? undefined
    : await startInfra({ ...(dataDir === undefined ? {} : { dataDir }), ...(onProgress ? { onProgress } : {}) });
  const { natsUrl, databaseUrl } = servers ?? started ?? { natsUrl: '', databaseUrl: '' };
  const stops: (() => Promise<void>)[] = started ? [() => started.stop()] : [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  try {
    const projector = await startServices(options, natsUrl, databaseUrl, stops);
    return { natsUrl, databaseUrl, projected: () => projector.caughtUp(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startServices(
  options: StandaloneOptions,
  natsUrl: string,
  databaseUrl: string,
  stops: (() => Promise<void>)[],
): Promise<{ caughtUp(): Promise<void> }> {
  const logger = nestLogger(createLogger('standalone', options.logLevel ?? 'warn'));
  const connect = async (name: string): Promise<Bus> => {
    const bus = await Bus.connect({ url: natsUrl, name });
    stops.push(() => bus.close());
    return bus;
  };
  const operator = await connect('operator');
  await applyTopology(operator);
  await putPolicies(operator, options.policySets ?? []);
  const start = async (service: CommandService, module: DynamicModule) => {
    const running = await startCommandService({ bus: await connect(service), service, module, logger, graceMs: 5_000 });
    stops.push(() => running.stop());
  };
  const { workspaceRoots, catalogue, harnessTimes, extraTools = [] } = options;
  const projectorBus = await connect('session-projector');
  const projector = await startFollowerService({
    bus: projectorBus,
    module: SessionProjectorModule.register({ databaseUrl, migrate: true }),
    logger,
  });
  stops.push(() => projector.stop());
  await Promise.all([
    start('llm-router', LlmRouterModule.register({ catalogue })),
    start('tool-runner', ToolRunnerModule.register({ workspaceRoots, extraTools })),
    start('hook-policy', HookPolicyModule.register(options.hookPolicy)),
    start('acp-bridge', AcpBridgeModule.register({ workspaceRoots, ...(harnessTimes ? { times: harnessTimes } : {}) })),
    start('loop-orchestrator', LoopOrchestratorModule.register({ workspaceRoots, allowInlineAgents: true })),
  ]);
  const service = projector.context.get(ProjectorService);
  return {
    caughtUp: async () => {
      const { state } = await operator.api<{ state: { last_seq: number } }>('STREAM.INFO.JOURNAL');
      await service.waitForProjection(state.last_seq);
    },
  };
}

async function putPolicies(bus: Bus, sets: readonly PolicySet[]): Promise<void> {
  const store = await PolicyStore.open(bus);
  for (const set of sets) await putPolicySet(store, JSON.stringify(set), `policy set ${set.name}`);
  store.close();
}
