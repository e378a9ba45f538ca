import type { Msg } from 'nats';

/**
 * Milliseconds that an acknowledgement may wait for others. Nothing waits for it, and what is lost with the process is
 * delivered again, which every handler expects.
 */
const JOIN_MS = 5;

/** Sends acknowledgements together: one write to the socket, and one read of the server, for all of a moment. */
export class Acks {
  private readonly waiting: Msg[] = [];
  private timer: NodeJS.Timeout | undefined;

  add(message: Msg): void {
    this.waiting.push(message);
    this.timer ??= setTimeout(() => {
      this.flush();
    }, JOIN_MS);
  }

  /** Sends what waits. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const message of this.waiting.splice(0)) message.respond('+ACK');
  }
}
