import { subjects } from '@jetloop/contracts';
import { NoResponderError, RequestTooLargeError, type ResponderChannel } from '@jetloop/messaging';
import { PolicyError } from '../../policy/policy-error.js';
import { MAX_ANSWER, type HookTransport } from '../transport.js';

/** Asks a program that answers on `policy.<name>`, in whatever language. */
export function responderTransport(name: string, channel: Pick<ResponderChannel, 'request'>): HookTransport {
  const subject = subjects.policy(name);
  return async (body, { signal }) => {
    try {
      const bytes = await channel.request(subject, body, signal);
      if (bytes.length > MAX_ANSWER) {
        throw new PolicyError('output_too_large', `expected at most ${MAX_ANSWER} bytes, got ${bytes.length}`);
      }
      return { kind: 'answer', bytes, plainText: false };
    } catch (error) {
      if (error instanceof NoResponderError) throw new PolicyError('no_responder', error.message, 'no responder');
      if (error instanceof RequestTooLargeError) throw new PolicyError('too_large', error.message, 'too large');
      throw error;
    }
  };
}
