import { setTimeout as sleep } from 'node:timers/promises';
import { subjects, type AcpCommand, type HarnessFinished } from '@jetloop/contracts';
import type { Bus, PubAck } from '@jetloop/messaging';

const RETRY_MS = 500;

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
    const { ack, tries } = await this.publish(from, `${head.slice(0, -1)},"events":[${events.join(',')}]}`);
    return ack.duplicate && tries === 1;
  }

  /** Stores the attempt's last reply. */
  async finish(from: number, end: Finished): Promise<void> {
    const { commandId, turn, attempt } = this.command;
    const finished: HarnessFinished = { commandId, kind: 'harness.finished', turn, attempt, from, ...end };
    await this.publish(from, JSON.stringify(finished));
  }

  /** Until it is stored: an attempt does not end because the servers are away. */
  private async publish(from: number, body: string): Promise<{ readonly ack: PubAck; readonly tries: number }> {
    const { tenant, session, commandId } = this.command;
    const subject = subjects.reply(tenant, session, 'acp');
    for (let tries = 1; ; tries++) {
      try {
        const id = `${commandId}:reply:${from}`;
        const ack = await this.bus.publisher.publish(subject, Buffer.from(body), { 'Nats-Msg-Id': id });
        return { ack, tries };
      } catch (error) {
        if (this.signal.aborted) throw error;
        await sleep(RETRY_MS);
      }
    }
  }
}
