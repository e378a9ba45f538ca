import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { InboxMessage, InboxSettlement } from '@jetloop/messaging';
import { WaitCheck, WorkHandler } from '@jetloop/messaging/nest';
import { CommandHandler } from '../session/command.handler.js';
import { parseInbox } from './parse-inbox.js';

/** Everything that comes to a session: callers' commands, workers' replies, timers. */
@Controller()
export class InboxController {
  constructor(private readonly commands: CommandHandler) {}

  @WorkHandler('session')
  handle(@Payload() message: InboxMessage): Promise<InboxSettlement> {
    return this.commands.handle(parseInbox(message), message.traceparent);
  }

  @WaitCheck('session')
  onlyWaits(@Payload() message: InboxMessage): Promise<boolean> {
    return this.commands.onlyWaits(parseInbox(message));
  }
}
