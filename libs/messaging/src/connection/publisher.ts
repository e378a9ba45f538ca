import {
  createInbox,
  headers as natsHeaders,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Subscription,
} from 'nats';
import { PublishRefusedError, PublishUnknownError } from '../errors.js';

/** What JetStream says of a stored message. */
export interface PubAck {
  readonly stream: string;
  readonly sequence: number;
  readonly duplicate: boolean;
}

interface Waiting {
  readonly subject: string;
  readonly resolve: (ack: PubAck) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: number;
}

const SWEEP_MS = 500;
const ACK_TIMEOUT_MS = 5_000;

/**
 * Publishes to JetStream with one inbox for all acknowledgements and one coarse sweep for all timeouts: about twice the
 * throughput of a request per message (docs/decisions/0002).
 */
export class Publisher {
  private readonly prefix = `${createInbox()}.`;
  private readonly waiting = new Map<string, Waiting>();
  private readonly inbox: Subscription;
  private readonly sweeper: NodeJS.Timeout;
  private next = 0;

  constructor(private readonly connection: NatsConnection) {
    this.inbox = connection.subscribe(`${this.prefix}*`, {
      callback: (_error, message) => {
        this.settle(message);
      },
    });
    this.sweeper = setInterval(() => {
      this.sweep();
    }, SWEEP_MS);
    this.sweeper.unref();
  }

  /**
   * Resolves once the message is stored.
   * @throws PublishRefusedError (not stored), PublishUnknownError (no answer in 5 s)
   */
  publish(subject: string, body: Uint8Array, headers: Readonly<Record<string, string>> = {}): Promise<PubAck> {
    const token = (this.next++).toString(36);
    return new Promise((resolve, reject) => {
      this.waiting.set(token, { subject, resolve, reject, deadline: Date.now() + ACK_TIMEOUT_MS });
      try {
        this.connection.publish(subject, body, { headers: headersOf(headers), reply: this.prefix + token });
      } catch (error) {
        this.waiting.delete(token);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** Publishes without asking whether it is stored: for a message that a later one, which is acknowledged, speaks for. */
  send(subject: string, body: Uint8Array, headers: Readonly<Record<string, string>> = {}): void {
    this.connection.publish(subject, body, { headers: headersOf(headers) });
  }

  close(): void {
    clearInterval(this.sweeper);
    this.inbox.unsubscribe();
    for (const { subject, reject } of this.waiting.values())
      reject(new PublishUnknownError(subject, 'the connection is closing'));
    this.waiting.clear();
  }

  private settle(message: Msg): void {
    const token = message.subject.slice(this.prefix.length);
    const waiting = this.waiting.get(token);
    if (!waiting) return;
    this.waiting.delete(token);
    if (message.data.length === 0) {
      waiting.reject(
        new PublishUnknownError(
          waiting.subject,
          message.headers?.code === 503 ? 'no stream takes this subject' : 'empty answer',
        ),
      );
      return;
    }
    const answer = message.json<{
      stream?: string;
      seq?: number;
      duplicate?: boolean;
      error?: { err_code?: number; description?: string };
    }>();
    if (answer.error) {
      waiting.reject(
        new PublishRefusedError(waiting.subject, answer.error.err_code ?? 0, answer.error.description ?? ''),
      );
    } else if (answer.stream === undefined || answer.seq === undefined) {
      waiting.reject(new PublishUnknownError(waiting.subject, 'the answer is no PubAck'));
    } else {
      waiting.resolve({ stream: answer.stream, sequence: answer.seq, duplicate: answer.duplicate === true });
    }
  }

  private sweep(): void {
    const now = Date.now();
    for (const [token, { subject, reject, deadline }] of this.waiting) {
      if (deadline > now) continue;
      this.waiting.delete(token);
      reject(new PublishUnknownError(subject, `no answer in ${ACK_TIMEOUT_MS} ms`));
    }
  }
}

function headersOf(given: Readonly<Record<string, string>>): MsgHdrs {
  const set = natsHeaders();
  for (const [name, value] of Object.entries(given)) set.set(name, value);
  return set;
}
