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

  /** `at` (RFC 3339): commands to workers arrive then. Resolves once all of it is stored. @throws PublishUnknownError, PublishRefusedError */
  async send(tenant: string, session: string, work: readonly Work[], at?: string): Promise<void> {
    await Promise.all(work.map((one) => this.sendOne(tenant, session, one, at)));
  }

  private async sendOne(tenant: string, session: string, work: Work, at?: string): Promise<void> {
    if ((await faultPoint('send.before')) === 'drop') return;
    await this.publish(tenant, session, work, at);
    await faultPoint('send.after');
  }

  private async publish(tenant: string, session: string, work: Work, at?: string): Promise<void> {
    const { publisher } = this.bus;
    switch (work.kind) {
      case 'abort':
        this.live.publish('abort', tenant, session, { turn: work.turn });
        return;
      case 'timer': {
        const { name, dueAt } = work;
        const body = { kind: 'timer', name, dueAt };
        await this.schedule(tenant, session, name, dueAt, subjects.reply(tenant, session, 'timer'), body);
        return;
      }
      case 'child':
        await publisher.publish(subjects.inbox(tenant, work.session), encoded(work.command), {});
        return;
      case 'report':
        await publisher.publish(subjects.reply(tenant, work.session, 'child'), encoded(work.reply), {
          'Nats-Msg-Id': `${tenant}.${work.reply.commandId}:report`,
        });
        return;
      case 'llm':
      case 'tool':
      case 'hook':
      case 'acp':
        if (at !== undefined) {
          const name = `asks-${work.command.turn}-${work.command.step}-${work.command.what.replaceAll('.', '_')}`;
          await this.schedule(tenant, session, name, at, subjects.work(work.kind, tenant), work.command);
          return;
        }
        await publisher.publish(subjects.work(work.kind, tenant), encoded(work.command), {
          'Nats-Msg-Id': work.command.commandId,
        });
    }
  }

  /** A message that arrives at a time, by a schedule that survives restarts. */
  private async schedule(
    tenant: string,
    session: string,
    name: string,
    at: string,
    target: string,
    body: unknown,
  ): Promise<void> {
    const headers = { 'Nats-Schedule': `@at ${at}`, 'Nats-Schedule-Target': target };
    await this.bus.publisher.publish(subjects.timer(tenant, session, name), encoded(body), headers);
  }
}

function encoded(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
