import type { Bus } from '@jetloop/messaging';
import { quantile } from './statistics.ts';
import { TENANT } from './workload.ts';

/**
 * How long the policy service takes: from the moment a question is in COMMANDS to the moment its answer is, as somebody sees
 * it who listens to both. All of the service is in it: its queue, the decision, the way to the stream and back.
 */
export class DecisionTimes {
  private readonly asked = new Map<string, number>();
  private readonly taken: number[] = [];
  private readonly subscriptions;

  constructor({ nats }: Bus) {
    const listen = (subject: string, take: (commandId: string, now: number) => void) =>
      nats.subscribe(subject, {
        callback: (_error, message) => {
          const now = performance.now();
          const id = /"commandId":"([^"]+)"/.exec(Buffer.from(message.data).toString('latin1'))?.[1];
          if (id !== undefined) take(id, now);
        },
      });
    this.subscriptions = [
      listen(`cmd.hook.${TENANT}`, (id, now) => this.asked.set(id, now)),
      listen(`cmd.session.${TENANT}.*.hook`, (id, now) => {
        const from = this.asked.get(id);
        this.asked.delete(id);
        if (from !== undefined) this.taken.push(now - from);
      }),
    ];
  }

  /** Milliseconds; undefined when nobody was asked. */
  stop(): { p50: number; p99: number; decisions: number } | undefined {
    for (const subscription of this.subscriptions) subscription.unsubscribe();
    if (this.taken.length === 0) return undefined;
    return { p50: quantile(this.taken, 0.5), p99: quantile(this.taken, 0.99), decisions: this.taken.length };
  }
}
