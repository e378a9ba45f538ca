import { subjects, type AcpCommand, type HarnessFinished } from '@jetloop/contracts';
import type { Bus } from '@jetloop/messaging';
import { untilStored } from './until-stored.js';

type Finished = Omit<HarnessFinished, 'commandId' | 'kind' | 'turn' | 'attempt' | 'from'>;

/** The replies of one attempt to its session's inbox, each under its own message id (spec 6.5). */
export class HarnessReplies {
  constructor(
    private readonly bus: Bus,
    private readonly command: AcpCommand,
    private readonly signal: AbortSignal,
  ) {}

  /** Stores a batch. `events`: JSON texts. True: one under its id was there before, and not from here. */
  async events(from: number, events: readonly string[]): Promise<boolean> {
    const { commandId, turn, attempt } = this.command;
    const head = JSON.stringify({ commandId, kind: 'harness.events', turn, attempt, from });
    const { duplicate, tries } = await this.publish(from, `${head.slice(0, -1)},"events":[${events.join(',')}]}`);
    return duplicate && tries === 1;
  }

  /** Stores the attempt's last reply. */
  async finish(from: number, end: Finished): Promise<void> {
    const { commandId, turn, attempt } = this.command;
    const finished: HarnessFinished = { commandId, kind: 'harness.finished', turn, attempt, from, ...end };
    await this.publish(from, JSON.stringify(finished));
  }

  private publish(from: number, body: string): Promise<{ readonly duplicate: boolean; readonly tries: number }> {
    const { tenant, session, commandId } = this.command;
    const subject = subjects.reply(tenant, session, 'acp');
    const headers = { 'Nats-Msg-Id': `${commandId}:reply:${from}` };
    return untilStored(this.signal, async (tries) => {
      const { duplicate } = await this.bus.publisher.publish(subject, Buffer.from(body), headers);
      return { duplicate, tries };
    });
  }
}
