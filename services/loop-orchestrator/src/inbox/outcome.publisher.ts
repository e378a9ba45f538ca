import { Injectable } from '@nestjs/common';
import { subjects, type Outcome } from '@jetloop/contracts';
import { Bus, faultPoint } from '@jetloop/messaging';

/** Answers callers, on core NATS: who misses it sends the command again and gets the same answer. */
@Injectable()
export class OutcomePublisher {
  constructor(private readonly bus: Bus) {}

  async publish(tenant: string, session: string, commandId: string, outcome: Outcome): Promise<void> {
    if ((await faultPoint('outcome.before')) === 'drop') return;
    this.bus.nats.publish(subjects.outcome(tenant, session, commandId), JSON.stringify(outcome));
    await faultPoint('outcome.after');
  }
}
