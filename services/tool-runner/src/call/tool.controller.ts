import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { ToolCommand, ToolReply } from '@jetloop/contracts';
import type { Delivery } from '@jetloop/messaging';
import { WaitCheck, WorkHandler } from '@jetloop/messaging/nest';
import { ToolCallService } from './tool-call.service.js';
import { ToolListService } from './tool-list.service.js';

@Controller()
export class ToolController {
  constructor(
    private readonly calls: ToolCallService,
    private readonly lists: ToolListService,
  ) {}

  @WorkHandler('tool')
  handle(@Payload() command: ToolCommand, @Ctx() delivery: Delivery): Promise<ToolReply | undefined> {
    return command.op === 'list' ? this.lists.list(command) : this.calls.call(command, delivery);
  }

  @WaitCheck('tool')
  waits(@Payload() command: ToolCommand): Promise<boolean> {
    return command.op === 'list' ? Promise.resolve(false) : this.calls.waits(command);
  }
}
