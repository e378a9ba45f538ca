import type { HookCommand, HookReply } from '@jetloop/contracts';
import { ClaimCheck, type Delivery } from '@jetloop/messaging';
import { WorkHandler } from '@jetloop/messaging/nest';
import { Controller, Inject } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { HookService } from './hook.service.js';
import { restoreSubject } from './restore-subject.js';

/** Takes the questions of the seams from `cmd.hook.<tenant>`. */
@Controller()
export class HookController {
  constructor(
    @Inject(HookService) private readonly hooks: HookService,
    @Inject(ClaimCheck) private readonly contents: Pick<ClaimCheck, 'restore'>,
  ) {}

  @WorkHandler('hook')
  async handle(@Payload() command: HookCommand, @Ctx() delivery: Delivery): Promise<HookReply> {
    const subject = await restoreSubject(this.contents, command, command.subject);
    return this.hooks.decide({ ...command, subject }, delivery.signal);
  }
}
