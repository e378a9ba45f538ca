import { Logger, Module, type DynamicModule, type OnModuleDestroy } from '@nestjs/common';
import { BlobStore, Bus, DeadLetters, EffectStore, LiveChannel, TurnWatch } from '@jetloop/messaging';
import { CallLimits } from './call/call-limits.js';
import { CallLogs } from './call/call-logs.js';
import { CallRunner } from './call/call-runner.js';
import { ToolCallService } from './call/tool-call.service.js';
import { ToolListService } from './call/tool-list.service.js';
import { ToolController } from './call/tool.controller.js';
import { Tools } from './call/tools.js';
import { Workspaces } from './call/workspaces.js';
import { EffectGuard } from './effect/effect-guard.js';
import { EffectLedger } from './effect/effect-ledger.js';
import { McpServers } from './mcp/mcp-servers.js';
import { mcpConnector } from './mcp/sdk-connection.js';
import type { ToolModules } from './module/tool-modules.js';
import type { ToolRunnerOptions } from './options.js';
import { ownTools } from './own-tools.js';

/** Ends what was started for tools, once no call is left. */
class ToolsLife implements OnModuleDestroy {
  constructor(
    private readonly servers: McpServers,
    private readonly modules: ToolModules | undefined,
  ) {}

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.servers.close(), this.modules?.close()]);
  }
}

/** Runs tools: a command in, one reply out. */
@Module({})
export class ToolRunnerModule {
  static register(options: ToolRunnerOptions): DynamicModule {
    const registry = ownTools(options);
    return {
      module: ToolRunnerModule,
      controllers: [ToolController],
      providers: [
        {
          provide: ToolsLife,
          useFactory: (mcp: McpServers) => new ToolsLife(mcp, options.modules),
          inject: [McpServers],
        },
        { provide: McpServers, useFactory: () => new McpServers(mcpConnector(options.mcpAddresses ?? [])) },
        { provide: Tools, useFactory: (mcp: McpServers) => new Tools(registry, mcp), inject: [McpServers] },
        { provide: CallLogs, useFactory: (bus: Bus) => new CallLogs(bus), inject: [Bus] },
        {
          provide: CallRunner,
          useFactory: (live: LiveChannel, blobs: BlobStore) =>
            new CallRunner(new Workspaces(options.workspaceRoots), live, blobs),
          inject: [LiveChannel, BlobStore],
        },
        {
          provide: TurnWatch,
          useFactory: (bus: Bus, logs: CallLogs) => new TurnWatch(bus, logs),
          inject: [Bus, CallLogs],
        },
        { provide: EffectGuard, useFactory: (bus: Bus) => effectGuard(bus, options), inject: [Bus] },
        { provide: CallLimits, useValue: new CallLimits(options) },
        ToolCallService,
        ToolListService,
      ],
    };
  }
}

function effectGuard(bus: Bus, { ackWaitMs = 30_000 }: ToolRunnerOptions): EffectGuard {
  const logger = new Logger(EffectLedger.name);
  const onMissedBeat = (effectId: string, error: unknown) => {
    logger.warn(
      `effect ${effectId}: its entry was not rewritten: ${error instanceof Error ? error.message : 'no error'}`,
    );
  };
  const ledger = new EffectLedger(new EffectStore(bus), { ackWaitMs, onMissedBeat });
  return new EffectGuard(ledger, new DeadLetters(bus, 'tool-runner'));
}
