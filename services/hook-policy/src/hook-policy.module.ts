import { Module, type DynamicModule } from '@nestjs/common';
import { HookController } from './hook.controller.js';
import { HookService } from './hook.service.js';

/** The policy worker. Needs the global MessagingModule beside it; its policy sets come from the bucket POLICIES. */
@Module({})
export class HookPolicyModule {
  static register(): DynamicModule {
    return { module: HookPolicyModule, controllers: [HookController], providers: [HookService] };
  }
}
