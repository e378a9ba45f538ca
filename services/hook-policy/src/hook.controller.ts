import type { HookCommand, HookReply } from '@jetloop/contracts';
import { WorkHandler, type Delivery } from '@jetloop/messaging';
import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { HookService } from './hook.service.js';

/** Takes the questions of the seams from `cmd.hook.<tenant>`. */
@Controller()
export class HookController {
  constructor(@Inject(HookService) private readonly hooks: HookService) {}

  @WorkHandler('hook')
  handle(@Payload() command: HookCommand, @Ctx() delivery: Delivery): Promise<HookReply> {
    return this.hooks.decide(command, delivery.signal);
  }
}
