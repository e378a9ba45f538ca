import type { Msg, NatsConnection } from 'nats';
import type { Acks } from './acks.js';

/** What the server says of a delivered message, in its acknowledgement subject. */
export interface DeliveryInfo {
  readonly stream: string;
  readonly streamSequence: number;
  /** 1 for the first delivery. */
  readonly deliveries: number;
  /** Milliseconds since the epoch, when the message was stored. */
  readonly storedAt: number;
}

/** A handler's view of the message it handles. */
export interface Delivery extends DeliveryInfo {
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the service stops and its grace is over. */
  readonly signal: AbortSignal;
}

/** A message that was pulled and is to be settled exactly once. */
export class PulledMessage implements DeliveryInfo {
  readonly stream: string;
  readonly streamSequence: number;
  readonly deliveries: number;
  readonly storedAt: number;

  constructor(
    private readonly connection: NatsConnection,
    private readonly message: Msg,
    private readonly acks: Acks,
  ) {
    const tokens = (message.reply ?? '').split('.');
    // $JS.ACK.<stream>.<consumer>.<…> or $JS.ACK.<domain>.<account>.<stream>.<consumer>.<…>.<token>
    const base = tokens.length > 9 ? 4 : 2;
    this.stream = tokens[base] ?? '';
    this.deliveries = Number(tokens[base + 2] ?? 1);
    this.streamSequence = Number(tokens[base + 3] ?? 0);
    this.storedAt = Number(BigInt(tokens[base + 5] ?? '0') / 1_000_000n);
  }

  get subject(): string {
    return this.message.subject;
  }

  get body(): Uint8Array {
    return this.message.data;
  }

  get headers(): Readonly<Record<string, string>> {
    const { headers } = this.message;
    return headers ? Object.fromEntries(headers.keys().map((key) => [key, headers.get(key)])) : {};
  }

  /** Leaves for the server within some milliseconds, with others. */
  ack(): void {
    this.acks.add(this.message);
  }

  /** Resolves once the server has the acknowledgement: a refused command never runs later. */
  async ackConfirmed(): Promise<void> {
    await this.connection.request(this.message.reply ?? '', '+ACK', { timeout: 5_000 });
  }

  /** Delivered again after `delayMs`. */
  nak(delayMs: number): void {
    this.message.respond(`-NAK ${JSON.stringify({ delay: Math.round(delayMs * 1_000_000) })}`);
  }

  /** The ack wait begins anew. */
  working(): void {
    this.message.respond('+WPI');
  }
}
