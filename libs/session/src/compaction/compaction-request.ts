import type { DerivedMessage, RecordedEvent, UnknownEvent } from '@jetloop/contracts';
import { deriveMessages } from '../messages/derive-messages.js';

/** What the model is asked for when the older part of a conversation is replaced by a summary. */
export const COMPACTION_INSTRUCTION = `The conversation above is about to be replaced by a summary that you write now. Whoever goes on with the work sees your summary and what comes after it, and nothing else of the above.

Write down, in plain text and in this order:
1. What was asked for, in the words of those who asked, with every wish and limit that still holds.
2. What was decided and why, and what was tried and did not work.
3. The state of the work: files, names, values, identifiers and results that are still needed, exactly as they stand.
4. What is left to do, and what comes next.

Leave out greetings and what nobody needs any more. Do not go on with the work, do not call tools, and do not answer questions: write the summary alone.`;

/**
 * The request of a compaction: what the model saw of the events from `from` to `to` (sequences, both included), and at the
 * end the instruction to sum it up. It goes out without tools.
 */
export function compactionMessages(
  events: readonly (RecordedEvent | UnknownEvent)[],
  { from, to }: { readonly from: number; readonly to: number },
): DerivedMessage[] {
  // An earlier summary stands for its own range, wherever in the log it was written.
  const inRange = events.filter(
    ({ sequence, type }) => (sequence >= from && sequence <= to) || type === 'compaction.summary',
  );
  return [...deriveMessages(inRange), { role: 'user', content: [{ type: 'text', text: COMPACTION_INSTRUCTION }] }];
}
