import { Module, type DynamicModule } from '@nestjs/common';
import { Bus, CooldownStore } from '@jetloop/messaging';
import { defaultAdapters } from './adapter/default-adapters.js';
import { LlmController } from './call/llm.controller.js';
import { LlmService } from './call/llm.service.js';
import { OutputSchemas } from './call/output-schemas.js';
import { ToolSchemas } from './call/tool-schemas.js';
import type { Catalogue } from './catalogue/catalogue.js';
import { LLM_ROUTER_OPTIONS, type LlmRouterOptions } from './options.js';
import type { AttemptObserver } from './routing/attempt-observer.js';
import { SharedCooldowns } from './routing/shared-cooldowns.js';

export interface LlmRouterModuleOptions {
  readonly catalogue: Catalogue;
  /** Commands of one tenant at once; default: no limit but the slots of the service. */
  readonly tenantLimit?: number;
  /** Default: nobody is told. */
  readonly observe?: AttemptObserver;
}

/** Makes the model calls: a command in, one reply out, tokens live. */
@Module({})
export class LlmRouterModule {
  static register({
    catalogue,
    tenantLimit = Infinity,
    observe = () => undefined,
  }: LlmRouterModuleOptions): DynamicModule {
    const options: LlmRouterOptions = { catalogue, adapters: defaultAdapters(process.env), tenantLimit, observe };
    return {
      module: LlmRouterModule,
      controllers: [LlmController],
      providers: [
        { provide: LLM_ROUTER_OPTIONS, useValue: options },
        { provide: CooldownStore, useFactory: (bus: Bus) => CooldownStore.open(bus), inject: [Bus] },
        LlmService,
        OutputSchemas,
        SharedCooldowns,
        ToolSchemas,
      ],
    };
  }
}
