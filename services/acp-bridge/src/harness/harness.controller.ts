import { Controller } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { AcpCommand } from '@jetloop/contracts';
import type { Delivery } from '@jetloop/messaging';
import { WorkHandler } from '@jetloop/messaging/nest';
import { HarnessService } from './harness.service.js';

@Controller()
export class HarnessController {
  constructor(private readonly harness: HarnessService) {}

  @WorkHandler('acp')
  async handle(@Payload() command: AcpCommand, @Ctx() delivery: Delivery): Promise<undefined> {
    await this.harness.run(command, delivery);
    return undefined;
  }
}
