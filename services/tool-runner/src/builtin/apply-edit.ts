import { ToolError } from '../tool/tool-error.js';

export interface Edit {
  oldText: string;
  newText: string;
  replaceAll: boolean;
}

/** Replaces `oldText`, which must be there exactly once unless `replaceAll`. Throws {@link ToolError} `no_match` or `many_matches`. */
export function applyEdit(text: string, { oldText, newText, replaceAll }: Edit): { text: string; count: number } {
  // Not replace(): in its replacement text "$&" and its like have a meaning.
  const parts = text.split(oldText);
  const count = parts.length - 1;
  if (oldText === newText) throw new ToolError('no_change', 'oldText and newText are the same.');
  if (count === 0)
    throw new ToolError(
      'no_match',
      `oldText was found 0 times; it must match exactly, white space too.${hint(text, oldText)}`,
    );
  if (count > 1 && !replaceAll)
    throw new ToolError(
      'many_matches',
      `oldText was found ${count} times; give more of the text around it, or set replaceAll.`,
    );
  return { text: parts.join(newText), count };
}

function hint(text: string, oldText: string): string {
  const isCrlf = text.includes('\r\n') && oldText.includes('\n') && !oldText.includes('\r\n');
  return isCrlf ? ' The lines of this file end with \\r\\n.' : '';
}
