import { isKnownEvent, liveAbortSchema, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import type { Subscription } from 'nats';
import type { Bus } from '../connection/bus.js';

interface Where {
  readonly tenant: string;
  readonly session: string;
  readonly turn: number;
}

/** Where the log can be asked whether a turn is cancelled or ended. */
export interface TurnLook {
  isTurnOver(tenant: string, session: string, turn: number): Promise<boolean>;
}

const LOOK_MS = 2_000;

/** Tells a worker that the turn it works for was cancelled or ended: by the live abort, or, where it got lost, by the log. */
export class TurnWatch {
  private readonly followers = new Map<string, Set<(turn: number) => void>>();
  private readonly subscription: Subscription;

  constructor(
    bus: Bus,
    private readonly log: TurnLook,
  ) {
    this.subscription = bus.nats.subscribe('live.*.*.abort', {
      callback: (error, message) => {
        const [, tenant = '', session = ''] = message.subject.split('.');
        const abort = error ? undefined : liveAbortSchema.safeParse(message.json()).data;
        if (abort) for (const follower of this.followers.get(`${tenant}.${session}`) ?? []) follower(abort.turn);
      },
    });
  }

  /** The signal aborts when the turn is cancelled or over. Call `stop` when the work is done. */
  follow({ tenant, session, turn }: Where): { signal: AbortSignal; stop: () => void } {
    const controller = new AbortController();
    const key = `${tenant}.${session}`;
    const follower = (aborted: number) => {
      if (aborted === turn) controller.abort();
    };
    const followers = this.followers.get(key) ?? new Set();
    this.followers.set(key, followers.add(follower));
    const timer = setInterval(() => {
      this.log.isTurnOver(tenant, session, turn).then(
        (isOver) => {
          if (isOver) controller.abort();
        },
        // The next look tries again: what is not known now is not an abort.
        () => undefined,
      );
    }, LOOK_MS);
    return {
      signal: controller.signal,
      stop: () => {
        clearInterval(timer);
        followers.delete(follower);
        if (followers.size === 0) this.followers.delete(key);
      },
    };
  }

  close(): void {
    this.subscription.unsubscribe();
  }
}

/** Whether the log says that the turn is cancelling or ended. */
export function isTurnOver(events: readonly (RecordedEvent | UnknownEvent)[], turn: number): boolean {
  return events.some(
    (event) =>
      isKnownEvent(event) &&
      (event.type === 'turn.cancelling' || event.type === 'turn.end') &&
      event.data.turn === turn,
  );
}
