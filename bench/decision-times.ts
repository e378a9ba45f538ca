import type { Bus } from '@jetloop/messaging';
import { quantile } from './statistics.ts';
import { TENANT } from './workload.ts';

/** Milliseconds of a question; of a decision: a question's time is shared by the decisions of its answer. */
export interface DecisionReport {
  readonly question: { readonly p50: number; readonly p99: number };
  readonly decision: { readonly p50: number; readonly p99: number };
  readonly questions: number;
  readonly decisions: number;
}

/**
 * How long the policy service takes: from the moment a question is in COMMANDS to the moment its answer is, as somebody sees
 * it who listens to both. All of the service is in it: its queue, the decision, the way to the stream and back.
 */
export class DecisionTimes {
  private readonly asked = new Map<string, number>();
  private readonly taken: { readonly ms: number; readonly decisions: number }[] = [];
  private readonly subscriptions;

  constructor({ nats }: Bus) {
    const listen = (subject: string, take: (commandId: string, now: number, text: string) => void) =>
      nats.subscribe(subject, {
        callback: (_error, message) => {
          const now = performance.now();
          const text = Buffer.from(message.data).toString('latin1');
          const id = /"commandId":"([^"]+)"/.exec(text)?.[1];
          if (id !== undefined) take(id, now, text);
        },
      });
    this.subscriptions = [
      listen(`cmd.hook.${TENANT}`, (id, now) => this.asked.set(id, now)),
      listen(`cmd.session.${TENANT}.*.hook`, (id, now, text) => {
        const from = this.asked.get(id);
        this.asked.delete(id);
        // Each answer that follows has the digest of its question.
        const decisions = 1 + (text.match(/"digest":"/g)?.length ?? 0);
        if (from !== undefined) this.taken.push({ ms: now - from, decisions });
      }),
    ];
  }

  /** Undefined when nobody was asked. */
  stop(): DecisionReport | undefined {
    for (const subscription of this.subscriptions) subscription.unsubscribe();
    if (this.taken.length === 0) return undefined;
    const whole = this.taken.map(({ ms }) => ms);
    const shared = this.taken.flatMap(({ ms, decisions }) => Array<number>(decisions).fill(ms / decisions));
    return {
      question: { p50: quantile(whole, 0.5), p99: quantile(whole, 0.99) },
      decision: { p50: quantile(shared, 0.5), p99: quantile(shared, 0.99) },
      questions: whole.length,
      decisions: shared.length,
    };
  }
}
