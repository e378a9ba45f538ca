import type { Subscription } from 'nats';
import type { Bus } from '../connection/bus.js';

/** Rings once, at the first commit after it was hung up: the server then forgets it, so that it costs nothing under load. */
export class Bell {
  private readonly rung = Promise.withResolvers<undefined>();
  private readonly feed: Subscription;

  constructor(bus: Bus) {
    this.feed = bus.nats.subscribe('feed.>', {
      max: 1,
      callback: () => {
        this.rung.resolve(undefined);
      },
    });
  }

  /** Resolves when it has rung, when the time is over (an announcement may be lost), or when the signal aborts. */
  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    const ring = () => {
      this.rung.resolve(undefined);
    };
    const timer = setTimeout(ring, milliseconds);
    signal.addEventListener('abort', ring, { once: true });
    await this.rung.promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', ring);
  }

  close(): void {
    this.feed.unsubscribe();
  }
}
