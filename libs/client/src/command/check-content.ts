import { inputContentSchema, jsonBytes, type InputBlock } from '@jetloop/contracts';
import { CommandRefusedError } from '../errors.js';
import { describeIssues } from './describe-issues.js';

/** Bytes of a content as JSON: what one message can carry. What is larger belongs into a file of the workspace. */
export const MAX_CONTENT_BYTES = 768 * 1024;

/**
 * The blocks of a content that may be sent: text stands for one text block.
 * @throws CommandRefusedError `invalid` for an empty one, `too_large` over 768 KiB
 */
export function checkContent(content: string | readonly InputBlock[]): InputBlock[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const bytes = jsonBytes(blocks);
  if (bytes > MAX_CONTENT_BYTES) {
    throw new CommandRefusedError(
      'too_large',
      `The content is ${kibibytes(bytes)} KiB as JSON: expected at most ${kibibytes(MAX_CONTENT_BYTES)} KiB. Put what is large into a file of the workspace and name the file in the prompt.`,
    );
  }
  const parsed = inputContentSchema.safeParse(blocks);
  if (!parsed.success) throw new CommandRefusedError('invalid', describeIssues('content', parsed.error.issues));
  const isEmpty = parsed.data.every((block) => block.type === 'text' && block.text.trim() === '');
  if (isEmpty) throw new CommandRefusedError('invalid', 'The content is empty: expected some text.');
  return parsed.data;
}

function kibibytes(bytes: number): string {
  return (Math.ceil(bytes / 102.4) / 10).toString();
}
