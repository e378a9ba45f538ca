import { parseSessionSubject, subjects, TOKEN_PATTERN, type Outcome, type Timer } from '@jetloop/contracts';
import type { Bus } from '../connection/bus.js';
import type { PulledMessage } from './delivery.js';

/**
 * Tells whoever waits for an inbox message that was given up: a caller gets the outcome `unavailable`; a worker's reply
 * becomes the timer `parked-<stream sequence>`, due now, which ends its work (spec 8.1).
 */
export async function answerAbandoned(bus: Bus, message: PulledMessage, code: string, reason: string): Promise<void> {
  const where = parseSessionSubject(message.subject);
  if (!where) return;
  const { tenant, session, kind } = where;
  if (kind === undefined) {
    const commandId = commandIdOf(message.body);
    const known = code === 'too_large' || code === 'invalid' ? code : 'unavailable';
    const outcome: Outcome = { status: 'refused', code: known, message: `The command was given up: ${reason}.` };
    if (commandId !== undefined)
      bus.nats.publish(subjects.outcome(tenant, session, commandId), JSON.stringify(outcome));
    return;
  }
  const work = message.headers['Nats-Msg-Id']?.replace(/:reply(?::\d+)?$/, '');
  if (kind === 'timer' || work === undefined) return;
  const dueAt = new Date().toISOString();
  const timer: Timer = { kind: 'timer', name: `parked-${message.streamSequence}`, dueAt, work };
  await bus.publisher.publish(subjects.timer(tenant, session, timer.name), Buffer.from(JSON.stringify(timer)), {
    'Nats-Schedule': `@at ${dueAt}`,
    'Nats-Schedule-Target': subjects.reply(tenant, session, 'timer'),
  });
}

/** The id of a command that cannot be read otherwise. */
function commandIdOf(body: Uint8Array): string | undefined {
  const found = /"commandId"\s*:\s*"([^"]+)"/.exec(Buffer.from(body).toString('utf8'))?.[1];
  return found !== undefined && TOKEN_PATTERN.test(found) ? found : undefined;
}
