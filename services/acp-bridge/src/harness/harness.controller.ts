import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { AcpCommand, HarnessFinished } from '@jetloop/contracts';
import { WorkHandler } from '@jetloop/messaging';

@Controller()
export class HarnessController {
  /** Until attempts are driven here, each is refused with its reason: no session waits for it. */
  @WorkHandler('acp')
  handle(@Payload() { commandId, turn, attempt }: AcpCommand): HarnessFinished {
    const message = 'This version of the bridge does not drive external agents.';
    const error = { name: 'Transport' as const, code: 'not_built', message };
    const kind = 'harness.finished';
    return { commandId, kind, turn, attempt, from: 0, outcome: 'error', error, exit: null, stderr: '' };
  }
}
