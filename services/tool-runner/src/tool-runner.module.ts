import { Module, type DynamicModule } from '@nestjs/common';
import { builtinTools } from './builtin/index.js';
import { ToolCallService } from './call/tool-call.service.js';
import { ToolController } from './call/tool.controller.js';
import { TOOL_RUNNER_OPTIONS, type ToolRunnerOptions } from './options.js';
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
        { provide: TOOL_RUNNER_OPTIONS, useValue: options },
        { provide: ToolRegistry, useValue: registry },
        ToolCallService,
      ],
    };
  }
}
