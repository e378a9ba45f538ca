import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { LlmCommand, LlmReply } from '@jetloop/contracts';
import type { Delivery } from '@jetloop/messaging';
import { WorkHandler } from '@jetloop/messaging/nest';
import { LlmService } from './llm.service.js';

@Controller()
export class LlmController {
  constructor(private readonly service: LlmService) {}

  @WorkHandler('llm')
  handle(@Payload() command: LlmCommand, @Ctx() delivery: Delivery): Promise<LlmReply | undefined> {
    return this.service.call(command, delivery);
  }
}
