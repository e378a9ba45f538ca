import { createHash } from 'node:crypto';
import { parseSessionSubject, subjects, TOKEN_PATTERN, type DeadLetter } from '@jetloop/contracts';
import type { Bus } from '../connection/bus.js';
import type { PulledMessage } from './delivery.js';

/** Bytes of a body kept as text. */
const MAX_BODY = 256 * 1024;

/** What a dead letter is made of: a delivered message, or what came of one and cannot be sent any more. */
export type GivenUp = Pick<PulledMessage, 'subject' | 'body' | 'headers' | 'stream' | 'streamSequence' | 'deliveries'>;

/** Writes what a service gives up to DEAD, once a message (spec 8.1). */
export class DeadLetters {
  constructor(
    private readonly bus: Bus,
    private readonly service: string,
  ) {}

  async write(message: GivenUp, why: Pick<DeadLetter, 'class' | 'code' | 'reason'>): Promise<void> {
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
    // A late result lies beside the command that it came of, which may be given up itself.
    const id = `${message.stream}.${message.streamSequence}${why.class === 'late' ? '.late' : ''}`;
    await this.bus.publisher.publish(
      subjects.dead(this.service, tenantOf(message.subject)),
      Buffer.from(JSON.stringify(letter)),
      { 'Nats-Msg-Id': id },
    );
  }
}

/** Of what may hold a result that a policy would have redacted, or words of a prompt, only the digest is kept. */
function bodyOf({ subject, body }: GivenUp): DeadLetter['body'] {
  if (!holdsResult(subject, body) && !holdsSchema(subject, body) && body.length <= MAX_BODY)
    return { text: Buffer.from(body).toString('utf8') };
  return { digest: createHash('sha256').update(body).digest('hex'), size: body.length };
}

/** Tool replies; questions of the seam post-tool and their answers. */
function holdsResult(subject: string, body: Uint8Array): boolean {
  const kind = parseSessionSubject(subject)?.kind;
  if (kind === 'tool') return true;
  // By the text alone: a body that cannot be parsed is a dead letter too.
  return (kind === 'hook' || subject.startsWith('cmd.hook.')) && Buffer.from(body).includes('"post-tool"');
}

/** Model calls whose answer is to be an object: whoever prompts writes its schema. */
function holdsSchema(subject: string, body: Uint8Array): boolean {
  return subject.startsWith('cmd.llm.') && Buffer.from(body).includes('"output"');
}

function tenantOf(subject: string): string {
  const tenant = subject.split('.')[2] ?? '';
  return TOKEN_PATTERN.test(tenant) ? tenant : 'unknown';
}
