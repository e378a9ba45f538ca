import { AcpBridgeModule, type AcpBridgeOptions } from '@jetloop/acp-bridge';
import { HookPolicyModule, type HookPolicyOptions } from '@jetloop/hook-policy';
import { LlmRouterModule, type Catalogue, type LlmRouterLimits } from '@jetloop/llm-router';
import { LoopOrchestratorModule } from '@jetloop/loop-orchestrator';
import { Bus, JournalFollower, type CommandService } from '@jetloop/messaging';
import { startCommandService, startFollowerService } from '@jetloop/messaging/nest';
import { createLogger, nestLogger } from '@jetloop/platform';
import { ProjectorService, SessionProjectorModule } from '@jetloop/session-projector';
import { ToolRunnerModule, type ToolRunnerSettings } from '@jetloop/tool-runner';
import type { DynamicModule } from '@nestjs/common';
import { withServers, type Servers, type ServersOptions } from './with-servers.js';

export interface StandaloneOptions extends ServersOptions {
  /** Folders under which sessions work. */
  readonly workspaceRoots: readonly string[];
  /** Model targets that the router knows. */
  readonly catalogue: Catalogue;
  /** Plugins that policy sets may name, and where webhooks may be. Default none. */
  readonly hookPolicy?: HookPolicyOptions;
  /** Tools beside the built-in ones, their limits, what http_fetch and MCP servers may reach. Default: as a runner that is set to nothing. */
  readonly toolRunner?: ToolRunnerSettings;
  /** How many model calls run at once. */
  readonly llmRouter?: LlmRouterLimits;
  /** Waits of external agents other than the usual ones. */
  readonly harnessTimes?: AcpBridgeOptions['times'];
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
export function startStandalone(options: StandaloneOptions): Promise<Standalone> {
  return withServers(options, async (servers) => {
    const projector = await startServices(options, servers);
    const { natsUrl, databaseUrl } = servers;
    return { natsUrl, databaseUrl, projected: () => projector.caughtUp(), stop: servers.stop };
  });
}

async function startServices(
  options: StandaloneOptions,
  { natsUrl, databaseUrl, operator, onStop }: Servers,
): Promise<{ caughtUp(): Promise<void> }> {
  const logger = nestLogger(createLogger('standalone', options.logLevel ?? 'warn'));
  const connect = async (name: string): Promise<Bus> => {
    const bus = await Bus.connect({ url: natsUrl, name });
    onStop(() => bus.close());
    return bus;
  };
  const start = async (service: CommandService, module: DynamicModule, slots?: number) => {
    const bus = await connect(service);
    const running = await startCommandService({
      ...{ bus, service, module, logger, graceMs: 5_000 },
      ...(slots === undefined ? {} : { slots }),
    });
    onStop(() => running.stop());
  };
  const { workspaceRoots, catalogue, harnessTimes, toolRunner } = options;
  const { maxStreams, ...limits } = options.llmRouter ?? {};
  const projectorBus = await connect('session-projector');
  const projector = await startFollowerService({
    bus: projectorBus,
    module: SessionProjectorModule.register({ databaseUrl, migrate: true }),
    logger,
  });
  onStop(() => projector.stop());
  await Promise.all([
    start('llm-router', LlmRouterModule.register({ catalogue, ...limits }), maxStreams),
    start('tool-runner', ToolRunnerModule.register({ ...toolRunner, workspaceRoots })),
    start('hook-policy', HookPolicyModule.register(options.hookPolicy)),
    start('acp-bridge', AcpBridgeModule.register({ workspaceRoots, ...(harnessTimes ? { times: harnessTimes } : {}) })),
    start('loop-orchestrator', LoopOrchestratorModule.register({ workspaceRoots, allowInlineAgents: true })),
  ]);
  const service = projector.context.get(ProjectorService);
  return {
    caughtUp: async () => {
      const { last } = await new JournalFollower(operator).bounds();
      await service.waitForProjection(last);
    },
  };
}
