import type { EventsEnd, EventsStream } from '@jetloop/messaging';

const PAUSE_MS = 1_000;

/** Keeps where the public stream ends, at most once a second and after the last event for sure. */
export class EndKeeper {
  private due: EventsEnd | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly stream: Pick<EventsStream, 'remember'>) {}

  note(end: EventsEnd): void {
    this.due = end;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.flush();
    }, PAUSE_MS);
  }

  /** Keeps what is due now. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { due } = this;
    if (!due) return;
    this.due = undefined;
    // NATS is away: what is kept is older, which only an emptied stream would miss, and the next event notes it again.
    await this.stream.remember(due).catch(() => {
      this.due ??= due;
    });
  }
}
