import { createInbox, type Msg, type Subscription } from 'nats';
import type { Bus } from '../connection/bus.js';
import { Acks } from './acks.js';
import { PulledMessage } from './delivery.js';

export interface PullerOptions {
  readonly bus: Bus;
  readonly stream: string;
  readonly consumer: string;
  /** Messages handled at once, at most; no more are ever pulled. */
  readonly slots: number;
  /** Called for each message; the slot is free again when the promise settles. It must not reject. */
  readonly handle: (message: PulledMessage) => Promise<void>;
}

interface Pull {
  remaining: number;
  lastSeen: number;
}

const EXPIRES_MS = 30_000;
const HEARTBEAT_MS = 5_000;
const RETRY_MS = 1_000;

/**
 * Pulls messages of a durable consumer for the slots that are free, and keeps such pulls outstanding, so that nothing is
 * prefetched beyond what can be handled. A pull that falls silent for two heartbeats is given up and asked anew.
 */
export class Puller {
  private readonly inbox = createInbox();
  private readonly pulls = new Map<string, Pull>();
  private readonly handling = new Set<Promise<void>>();
  private readonly acks = new Acks();
  private subscription: Subscription | undefined;
  private watchdog: NodeJS.Timeout | undefined;
  private next = 0;
  private stopped = false;
  private lastAnswer = 0;

  constructor(private readonly options: PullerOptions) {}

  start(): void {
    this.subscription = this.options.bus.nats.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => {
        if (!error) this.receive(message);
      },
    });
    this.watchdog = setInterval(() => {
      this.watch();
    }, HEARTBEAT_MS);
    this.pull();
  }

  /** Whether the server answered a pull within the last two heartbeats. */
  isAlive(): boolean {
    return !this.stopped && Date.now() - this.lastAnswer < 2 * HEARTBEAT_MS + RETRY_MS;
  }

  /** Pulls no more and waits until all messages at hand are settled, or `graceMs` is over. */
  async stop(graceMs: number): Promise<void> {
    this.stopped = true;
    clearInterval(this.watchdog);
    this.subscription?.unsubscribe();
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.allSettled([...this.handling]), grace]);
    this.acks.flush();
    clearTimeout(timer);
  }

  private pull(): void {
    if (this.stopped) return;
    const requested = [...this.pulls.values()].reduce((sum, { remaining }) => sum + remaining, 0);
    const free = this.options.slots - this.handling.size - requested;
    if (free < 1 || (requested > 0 && free < this.options.slots / 4)) return;
    const id = (this.next++).toString(36);
    this.pulls.set(id, { remaining: free, lastSeen: Date.now() });
    const request = { batch: free, expires: EXPIRES_MS * 1_000_000, idle_heartbeat: HEARTBEAT_MS * 1_000_000 };
    const { bus, stream, consumer } = this.options;
    bus.nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(request), {
      reply: `${this.inbox}.${id}`,
    });
  }

  private receive(message: Msg): void {
    const code = message.headers?.code ?? 0;
    this.lastAnswer = Date.now();
    // A delivered message keeps its own subject: which pull it fills is the oldest one, as the server does it.
    if (code === 0 && message.reply?.startsWith('$JS.ACK.')) {
      this.fill();
      this.handle(new PulledMessage(this.options.bus.nats, message, this.acks));
      return;
    }
    const id = message.subject.slice(this.inbox.length + 1);
    const pull = this.pulls.get(id);
    if (!pull) return;
    if (code === 100) {
      pull.lastSeen = this.lastAnswer;
      return;
    }
    this.pulls.delete(id);
    // 408: the pull expired, or was partly served. Anything else (consumer gone, no responders) is worth a pause.
    if (code === 408) this.pull();
    else
      setTimeout(() => {
        this.pull();
      }, RETRY_MS).unref();
  }

  private fill(): void {
    for (const [id, pull] of this.pulls) {
      pull.remaining--;
      pull.lastSeen = this.lastAnswer;
      if (pull.remaining <= 0) this.pulls.delete(id);
      return;
    }
  }

  private handle(message: PulledMessage): void {
    const done = this.options.handle(message).finally(() => {
      this.handling.delete(done);
      this.pull();
    });
    this.handling.add(done);
  }

  private watch(): void {
    const silentSince = Date.now() - 2 * HEARTBEAT_MS;
    for (const [id, { lastSeen }] of this.pulls) if (lastSeen < silentSince) this.pulls.delete(id);
    this.pull();
  }
}
