import { Injectable } from '@nestjs/common';
import { subjects } from '@jetloop/contracts';
import { Bus, faultPoint, LiveChannel } from '@jetloop/messaging';
import type { Work } from '@jetloop/session';

/** Sends what a commit made outstanding. Ids spare work within the duplicate window; receivers look in the journal first. */
@Injectable()
export class WorkSender {
  constructor(
    private readonly bus: Bus,
    private readonly live: LiveChannel,
  ) {}

  /** Resolves once all of it is stored. @throws PublishUnknownError, PublishRefusedError */
  async send(tenant: string, session: string, work: readonly Work[]): Promise<void> {
    await Promise.all(work.map((one) => this.sendOne(tenant, session, one)));
  }

  private async sendOne(tenant: string, session: string, work: Work): Promise<void> {
    if ((await faultPoint('send.before')) === 'drop') return;
    await this.publish(tenant, session, work);
    await faultPoint('send.after');
  }

  private async publish(tenant: string, session: string, work: Work): Promise<void> {
    const { publisher } = this.bus;
    switch (work.kind) {
      case 'abort':
        this.live.publish('abort', tenant, session, { turn: work.turn });
        return;
      case 'timer': {
        const { name, dueAt } = work;
        const headers = {
          'Nats-Schedule': `@at ${dueAt}`,
          'Nats-Schedule-Target': subjects.reply(tenant, session, 'timer'),
        };
        await publisher.publish(
          subjects.timer(tenant, session, name),
          Buffer.from(JSON.stringify({ kind: 'timer', name, dueAt })),
          headers,
        );
        return;
      }
      case 'llm':
      case 'tool':
      case 'hook':
      case 'acp':
        await publisher.publish(subjects.work(work.kind, tenant), Buffer.from(JSON.stringify(work.command)), {
          'Nats-Msg-Id': work.command.commandId,
        });
    }
  }
}
