import { Module, type DynamicModule } from '@nestjs/common';
import { Bus, TurnWatch } from '@jetloop/messaging';
import { builtinTools } from './builtin/index.js';
import { CallLogs } from './call/call-logs.js';
import { ToolCallService } from './call/tool-call.service.js';
import { ToolController } from './call/tool.controller.js';
import { Workspaces } from './call/workspaces.js';
import type { ToolRunnerOptions } from './options.js';
import { ToolRegistry } from './tool/tool-registry.js';

/** Runs tools: a command in, one reply out. */
@Module({})
export class ToolRunnerModule {
  static register(options: ToolRunnerOptions): DynamicModule {
    const registry = new ToolRegistry([...builtinTools, ...(options.extraTools ?? [])]);
    return {
      module: ToolRunnerModule,
      controllers: [ToolController],
      providers: [
        { provide: Workspaces, useValue: new Workspaces(options.workspaceRoots) },
        { provide: CallLogs, useFactory: (bus: Bus) => new CallLogs(bus), inject: [Bus] },
        {
          provide: TurnWatch,
          useFactory: (bus: Bus, logs: CallLogs) => new TurnWatch(bus, logs),
          inject: [Bus, CallLogs],
        },
        { provide: ToolRegistry, useValue: registry },
        ToolCallService,
      ],
    };
  }
}
