import { Module, type DynamicModule } from '@nestjs/common';
import { defaultAdapters } from './adapter/default-adapters.js';
import { LlmController } from './call/llm.controller.js';
import { LlmService } from './call/llm.service.js';
import { ToolSchemas } from './call/tool-schemas.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { LLM_ROUTER_OPTIONS, type LlmRouterOptions } from './options.js';

/** Makes the model calls: a command in, one reply out, tokens live. */
@Module({})
export class LlmRouterModule {
  static register({ catalogue }: { readonly catalogue: Catalogue }): DynamicModule {
    const options: LlmRouterOptions = { catalogue, adapters: defaultAdapters(process.env) };
    return {
      module: LlmRouterModule,
      controllers: [LlmController],
      providers: [{ provide: LLM_ROUTER_OPTIONS, useValue: options }, LlmService, ToolSchemas],
    };
  }
}
