import { foldText } from './prompt-text.js';
import type { TextCondition } from './rule-parts.schema.js';
import { compilePattern } from './safe-pattern.js';
import { holdsSecret } from './secrets.js';

/** A test of all texts of a content together: every given part (contains, regex, secrets) must find something. */
export function compileText(condition: TextCondition): (texts: readonly string[]) => boolean {
  const needles = condition.contains?.map(foldText);
  const pattern = condition.regex === undefined ? undefined : compilePattern(condition.regex);
  return (texts) => {
    // Blocks are joined in two ways: a word may be cut between them, or each may be a line of its own.
    const joined = [texts.join('\n'), texts.join('')];
    if (needles && !joined.map(foldText).some((text) => needles.some((needle) => text.includes(needle)))) return false;
    if (pattern && !joined.some((text) => pattern.test(text))) return false;
    return !condition.secrets || joined.some(holdsSecret);
  };
}
