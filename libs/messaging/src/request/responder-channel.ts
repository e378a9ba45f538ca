import { createInbox } from 'nats';
import type { Bus } from '../connection/bus.js';
import { RetryableError } from '../errors.js';

/** Nobody listens on the subject. */
export class NoResponderError extends Error {
  override readonly name = 'NoResponderError';
  constructor(subject: string) {
    super(`Nobody answers on ${subject}: is the responder running?`);
  }
}

/** The request does not fit the server's `max_payload`. */
export class RequestTooLargeError extends Error {
  override readonly name = 'RequestTooLargeError';
  constructor(subject: string, size: number, most: number) {
    super(`The request to ${subject} is too large: expected at most ${most} bytes, got ${size}.`);
  }
}

/** Milliseconds between looks at the connection while an answer is waited for. */
const LOOK_MS = 250;
/** Room for the subject and the headers. */
const OVERHEAD = 1_024;

/** Core NATS requests to programs that are no services of ours. Nothing is stored; who asks has the limit of time. */
export class ResponderChannel {
  constructor(private readonly bus: Bus) {}

  /**
   * Sends one request and resolves with the first answer's bytes.
   * @param signal ends the wait: it rejects with the signal's reason
   * @throws NoResponderError, RequestTooLargeError; RetryableError where the connection is down
   */
  request(subject: string, body: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const { bus } = this;
    if (!bus.isConnected) return Promise.reject(new RetryableError(`${subject}: NATS is not connected`));
    const most = bus.maxPayload - OVERHEAD;
    if (body.length > most) return Promise.reject(new RequestTooLargeError(subject, body.length, most));
    return new Promise((resolve, reject) => {
      const inbox = createInbox();
      const answers = bus.nats.subscribe(inbox, {
        max: 1,
        callback: (error, message) => {
          end();
          if (error) reject(error);
          else if (message.data.length === 0 && message.headers?.code === 503) reject(new NoResponderError(subject));
          else resolve(message.data);
        },
      });
      const abort = (): void => {
        end();
        reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      // Question or answer is lost with the connection: that is not the responder's failure.
      const look = setInterval(() => {
        if (bus.isConnected) return;
        end();
        reject(new RetryableError(`${subject}: the connection to NATS was lost`));
      }, LOOK_MS);
      const end = (): void => {
        clearInterval(look);
        signal.removeEventListener('abort', abort);
        answers.unsubscribe();
      };
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      else bus.nats.publish(subject, body, { reply: inbox });
    });
  }
}
