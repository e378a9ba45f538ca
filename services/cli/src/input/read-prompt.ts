import { checkContent, CommandRefusedError, MAX_CONTENT_BYTES } from '@jetloop/client';
import { UsageError } from '../usage-error.js';

/**
 * The prompt of the command line; `-` reads it from standard input, where it may be longer than an argument.
 * @throws UsageError when it is empty or too long
 */
export async function readPrompt(argument: string, input: AsyncIterable<Uint8Array>): Promise<string> {
  const prompt = argument === '-' ? await readAll(input) : argument;
  if (prompt.trim() === '')
    throw new UsageError(
      'The prompt is empty: say what the agent shall do, as in jetloop run "Mend the failing test".',
    );
  try {
    checkContent(prompt);
  } catch (error) {
    if (error instanceof CommandRefusedError) throw new UsageError(error.message.replace('content', 'prompt'));
    throw error;
  }
  return prompt;
}

/** Reads no further than what says that it is too long. */
async function readAll(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_CONTENT_BYTES) {
      throw new UsageError(
        `The prompt on standard input is longer than ${MAX_CONTENT_BYTES / 1024} KiB. Put what is large into a file of the workspace and name the file in the prompt.`,
      );
    }
  }
  return Buffer.concat(chunks).toString('utf8').trimEnd();
}
