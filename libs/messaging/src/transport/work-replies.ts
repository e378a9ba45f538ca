import { subjects, type HookReply, type Reply } from '@jetloop/contracts';
import { failureReply, type AwaitedWork } from '@jetloop/session';
import type { Bus } from '../connection/bus.js';
import { faultPoint } from '../fault/fault-point.js';

/** Room for subject and headers beside a body (bytes). */
const ENVELOPE = 512;

/** Publishes what workers answer to the session's inbox, once each: the message id is `<command id>:reply`. */
export class WorkReplies {
  constructor(
    private readonly bus: Pick<Bus, 'maxPayload'> & { readonly publisher: Pick<Bus['publisher'], 'publish'> },
  ) {}

  /** Resolves once the reply is stored; one that no message can carry becomes a failure that says so. */
  async publish(work: AwaitedWork, reply: Reply): Promise<void> {
    const { tenant, session, commandId } = work.command;
    const body = Buffer.from(JSON.stringify(reply));
    if (body.length + ENVELOPE > this.bus.maxPayload) {
      if (reply.kind === 'hook' && reply.followed) return this.publish(work, withoutFollowed(reply));
      const text = `The reply is too large: ${body.length} bytes, the server takes ${this.bus.maxPayload}.`;
      return this.publish(work, failureReply(work, 'dead_lettered', text));
    }
    if ((await faultPoint('reply.before')) === 'drop') return;
    await this.bus.publisher.publish(subjects.reply(tenant, session, work.kind), body, {
      'Nats-Msg-Id': `${commandId}:reply`,
    });
    await faultPoint('reply.after');
  }
}

/** What follows is asked again by itself: it never harms the answer before it. */
function withoutFollowed({ followed: _followed, ...reply }: HookReply): HookReply {
  return reply;
}
