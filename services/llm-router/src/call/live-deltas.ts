import type { LiveDelta } from '@jetloop/contracts';
import type { LiveChannel } from '@jetloop/messaging';
import type { Part } from '../adapter/part.js';
import type { RouteListener } from '../routing/attempt-once.js';
import type { Together } from './together.js';

interface Where {
  readonly tenant: string;
  readonly session: string;
  readonly turn: number;
  readonly step: number;
}

type Kind = LiveDelta['kind'];

/** Says nothing to anybody. */
export const SILENT: RouteListener = { part: () => undefined, reset: () => undefined, end: () => undefined };

/** Publishes an answer while it streams: the first piece at once, later ones joined for some 20 ms. Nothing waits for it. */
export class LiveDeltas implements RouteListener {
  private attemptId = '';
  private n = 0;
  private pending: { kind: Kind; text: string } | undefined;

  constructor(
    private readonly channel: Pick<LiveChannel, 'publish'>,
    private readonly where: Where,
    private readonly together: Together,
  ) {}

  part(attemptId: string, part: Part): void {
    if (part.kind === 'text' || part.kind === 'reasoning') this.say(attemptId, part.kind, part.text);
    else if (part.kind === 'call' && part.name !== undefined) this.say(attemptId, 'tool-call', part.name);
  }

  reset(attemptId: string): void {
    this.flush();
    this.publish(attemptId, 'reset', undefined);
  }

  end(attemptId: string): void {
    this.flush();
    this.publish(attemptId, 'end', undefined);
  }

  private say(attemptId: string, kind: Kind, text: string): void {
    if (text === '') return;
    const isFirst = attemptId !== this.attemptId;
    if (this.pending && (isFirst || this.pending.kind !== kind)) this.flush();
    if (isFirst) {
      this.publish(attemptId, kind, text);
      return;
    }
    this.pending = { kind, text: (this.pending?.text ?? '') + text };
    this.together.run(this.flush);
  }

  private readonly flush = (): void => {
    this.together.forget(this.flush);
    const { pending } = this;
    this.pending = undefined;
    if (pending) this.publish(this.attemptId, pending.kind, pending.text);
  };

  private publish(attemptId: string, kind: Kind, text: string | undefined): void {
    if (attemptId !== this.attemptId) {
      this.attemptId = attemptId;
      this.n = 0;
    }
    const { tenant, session, turn, step } = this.where;
    this.channel.publish('delta', tenant, session, {
      turn,
      step,
      attemptId,
      n: this.n++,
      kind,
      ...(text === undefined ? {} : { text }),
    });
  }
}
