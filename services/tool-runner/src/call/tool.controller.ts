import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { ToolCommand, ToolReply } from '@jetloop/contracts';
import { WorkHandler, type Delivery } from '@jetloop/messaging';
import { ToolCallService } from './tool-call.service.js';

@Controller()
export class ToolController {
  constructor(private readonly calls: ToolCallService) {}

  @WorkHandler('tool')
  handle(@Payload() command: ToolCommand, @Ctx() delivery: Delivery): Promise<ToolReply | undefined> {
    return command.op === 'list' ? this.calls.list(command) : this.calls.call(command, delivery);
  }
}
