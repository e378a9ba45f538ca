import type { RecordedEvent, UnknownEvent } from '@jetloop/contracts';
import { subjects } from '@jetloop/contracts';
import { type Bus, decodeCommit, type SessionReader } from '@jetloop/messaging';

type AnyEvent = RecordedEvent | UnknownEvent;

/** Milliseconds between two looks at the journal, should the feed have missed something. */
const LOOK_MS = 2_000;

/** Follows a session's log: every event once, in order, by its feed and a read every 2 s (spec 6.4). */
export class SessionLog {
  private looking = false;
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;
  private unsubscribe: () => void = () => undefined;

  /** @param length events that are known already */
  constructor(
    private readonly bus: Bus,
    private readonly reader: SessionReader,
    private readonly where: { readonly tenant: string; readonly session: string },
    private length: number,
    private readonly onEvents: (events: readonly AnyEvent[]) => void,
  ) {}

  start(): void {
    const { tenant, session } = this.where;
    const feed = this.bus.nats.subscribe(subjects.feed(tenant, session), {
      callback: (error, message) => {
        if (!error) this.append(decodeCommit(message.data).events);
      },
    });
    this.unsubscribe = () => {
      feed.unsubscribe();
    };
    this.timer = setInterval(() => {
      this.look();
    }, LOOK_MS);
    this.look();
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.timer);
    this.unsubscribe();
  }

  /** Reads what the journal holds now. @throws when it cannot be read */
  async read(): Promise<void> {
    const { tenant, session } = this.where;
    this.take(await this.reader.readAll(tenant, session));
  }

  private append(events: readonly AnyEvent[]): void {
    const first = events[0]?.sequence ?? 0;
    if (first > this.length) this.look();
    else this.deliver(events.slice(this.length - first));
  }

  private look(): void {
    if (this.looking || this.stopped) return;
    this.looking = true;
    this.read()
      // What cannot be read now is read at the next look.
      .catch(() => undefined)
      .finally(() => {
        this.looking = false;
      });
  }

  private take(events: readonly AnyEvent[]): void {
    this.deliver(events.slice(this.length));
  }

  private deliver(events: readonly AnyEvent[]): void {
    if (events.length === 0 || this.stopped) return;
    this.length += events.length;
    this.onEvents(events);
  }
}
