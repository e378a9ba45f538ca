import type { Json } from '@jetloop/contracts';
import { findListed, findUnlisted } from '../command/command-list.js';
import { parsePath, valuesAt } from './argument-path.js';
import type { CommandCondition } from './rule-parts.schema.js';

/** What a command list found in the arguments, for the reason; undefined when it does not match. */
export type CommandTest = (args: Readonly<Record<string, Json>>) => string | undefined;

/** A test of the command line at the condition's argument. No such argument: nothing is run, no match. */
export function compileCommand(condition: CommandCondition): CommandTest {
  const steps = parsePath(condition.argument) ?? [condition.argument];
  const { runs = [], 'runs-other-than': allowed } = condition;
  const find = (line: string): string | undefined => (allowed ? findUnlisted(line, allowed) : findListed(line, runs));
  return (args) => {
    for (const value of valuesAt({ ...args }, steps)) {
      const found = typeof value === 'string' ? find(value) : 'cannot be analysed: it is no text';
      if (found !== undefined) return `the command line ${found}`;
    }
    return undefined;
  };
}
