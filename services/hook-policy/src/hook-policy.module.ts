import { Module, type DynamicModule } from '@nestjs/common';
import { HookController } from './hook.controller.js';
import { HookService } from './hook.service.js';
import { HOOK_POLICY_OPTIONS, type HookPolicyOptions } from './options.js';

/** The policy worker. Needs the global MessagingModule beside it; its policy sets come from the bucket POLICIES. */
@Module({})
export class HookPolicyModule {
  static register(options: HookPolicyOptions = {}): DynamicModule {
    const settings = { provide: HOOK_POLICY_OPTIONS, useValue: options };
    return { module: HookPolicyModule, controllers: [HookController], providers: [HookService, settings] };
  }
}
