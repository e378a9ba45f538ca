import type { SeamSubject } from '@jetloop/contracts';
import { digestOf } from '../digest.js';
import type { SessionState } from '../state.js';

/**
 * What an answer to a question counts for: the subject, and the messages that joined the turn before it, which a policy may
 * read though the subject does not tell of them.
 */
export function questionDigest({ turn }: SessionState, subject: SeamSubject): string {
  return digestOf({ subject, joined: turn?.disposed ?? 0 });
}
