import type { PulledMessage } from './delivery.js';

/** What the inbox handler is given: subject and body as they came; it parses them itself. */
export interface InboxMessage {
  readonly subject: string;
  readonly body: Uint8Array;
  readonly traceparent?: string;
  /** RFC 3339, by the server's clock; set on a redelivery: a cancel must not hurt what began since. */
  readonly redeliveredOf?: string;
}

/** How an inbox message ends. `answer` runs after the acknowledgement; `confirm` waits for the server to have it. */
export interface InboxSettlement {
  readonly confirm: boolean;
  readonly answer?: () => Promise<void>;
  /** Set: the message goes to DEAD under this class before it is acknowledged. */
  readonly dead?: { readonly class: 'late' | 'terminal'; readonly code: string; readonly reason: string };
}

export function toInboxMessage(message: PulledMessage): InboxMessage {
  const { traceparent } = message.headers;
  return {
    subject: message.subject,
    body: message.body,
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(message.deliveries > 1 ? { redeliveredOf: new Date(message.storedAt).toISOString() } : {}),
  };
}
