import { createHash } from 'node:crypto';
import { parseSessionSubject, subjects, TOKEN_PATTERN, type DeadLetter } from '@jetloop/contracts';
import type { Bus } from '../connection/bus.js';
import type { PulledMessage } from './delivery.js';

/** Bytes of a body kept as text. */
const MAX_BODY = 256 * 1024;

/** Writes what a service gives up to DEAD, once a message (spec 8.1). */
export class DeadLetters {
  constructor(
    private readonly bus: Bus,
    private readonly service: string,
  ) {}

  async write(message: PulledMessage, why: Pick<DeadLetter, 'class' | 'code' | 'reason'>): Promise<void> {
    const letter: DeadLetter = {
      ...why,
      service: this.service,
      subject: message.subject,
      headers: { ...message.headers },
      stream: message.stream,
      streamSequence: message.streamSequence,
      deliveries: message.deliveries,
      at: new Date().toISOString(),
      body: bodyOf(message),
    };
    const id = `${message.stream}.${message.streamSequence}`;
    await this.bus.publisher.publish(
      subjects.dead(this.service, tenantOf(message.subject)),
      Buffer.from(JSON.stringify(letter)),
      { 'Nats-Msg-Id': id },
    );
  }
}

/** Tool replies may hold what a policy would have redacted: only their digest is kept. */
function bodyOf({ subject, body }: PulledMessage): DeadLetter['body'] {
  const confidential = parseSessionSubject(subject)?.kind === 'tool';
  if (!confidential && body.length <= MAX_BODY) return { text: Buffer.from(body).toString('utf8') };
  return { digest: createHash('sha256').update(body).digest('hex'), size: body.length };
}

function tenantOf(subject: string): string {
  const tenant = subject.split('.')[2] ?? '';
  return TOKEN_PATTERN.test(tenant) ? tenant : 'unknown';
}
