import { createInbox, type Msg } from 'nats';
import type { Bus } from '../connection/bus.js';
import { RetryableError } from '../errors.js';

/** A stored message of JOURNAL, as it lies there. */
export interface StoredMessage {
  readonly streamSequence: number;
  readonly subject: string;
  readonly raw: Uint8Array;
  /** RFC 3339, when the server stored it. */
  readonly storedAt?: string;
}

export interface ReadOptions {
  /** The first stream sequence to look at. */
  readonly from: number;
  /** A subject of one session; default: all. */
  readonly filter?: string;
  /** Messages at most. */
  readonly batch: number;
}

const TIMEOUT_MS = 5_000;
/** Bytes of one answer at most, so that a slow reader is never cut off. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Reads stored messages in order without a consumer (direct get in batches). `pending` is how many more there are.
 * On a replica the answer may be stale. @throws RetryableError when the server does not answer in 5 s
 */
export function readJournal(
  bus: Bus,
  { from, filter = '>', batch }: ReadOptions,
): Promise<{ messages: StoredMessage[]; pending: number }> {
  const messages: StoredMessage[] = [];
  const inbox = createInbox();
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      subscription.unsubscribe();
      settle();
    };
    const subscription = bus.nats.subscribe(inbox, {
      callback: (error, message) => {
        if (error) {
          finish(() => {
            reject(error);
          });
          return;
        }
        const code = message.headers?.code ?? 0;
        if (code === 404 || code === 204) {
          finish(() => {
            resolve({ messages, pending: code === 204 ? numberHeader(message, 'Nats-Num-Pending') : 0 });
          });
        } else if (code >= 300) {
          finish(() => {
            reject(new RetryableError(`JOURNAL: ${message.headers?.description ?? 'read failed'} (${code})`));
          });
        } else {
          messages.push(stored(message));
        }
      },
    });
    // After the subscription, which throws where the connection is closed.
    const timer = setTimeout(() => {
      finish(() => {
        reject(new RetryableError(`JOURNAL: no answer to a read in ${TIMEOUT_MS} ms`));
      });
    }, TIMEOUT_MS);
    const request = { seq: Math.max(1, from), batch, max_bytes: MAX_BYTES, next_by_subj: filter };
    bus.nats.publish('$JS.API.DIRECT.GET.JOURNAL', JSON.stringify(request), { reply: inbox });
  });
}

function stored(message: Msg): StoredMessage {
  return {
    streamSequence: numberHeader(message, 'Nats-Sequence'),
    subject: message.headers?.get('Nats-Subject') ?? '',
    raw: message.data,
    storedAt: message.headers?.get('Nats-Time-Stamp') ?? '',
  };
}

function numberHeader(message: Msg, name: string): number {
  return Number(message.headers?.get(name) ?? 0);
}
