import type { CancelOptions, OutputOptions } from '../options.js';

/** The part of a prompt that says what its answer shall be. */
export function outputOf(output: OutputOptions | undefined): { output?: { schema: Record<string, unknown> } } {
  return output ? { output: { schema: { ...output.schema } } } : {};
}

/** The part of a cancel that says what it reaches. */
export function reachOf({ asOf, messageIds }: CancelOptions): { asOf?: string; messageIds?: string[] } {
  return {
    ...(asOf === undefined ? {} : { asOf }),
    ...(messageIds === undefined ? {} : { messageIds: [...messageIds] }),
  };
}
