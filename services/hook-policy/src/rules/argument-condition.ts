import { isDeepStrictEqual } from 'node:util';
import type { Json } from '@jetloop/contracts';
import picomatch from 'picomatch';
import { leavesOf, parsePath, valuesAt } from './argument-path.js';
import type { ArgumentCondition } from './rule-parts.schema.js';
import { compilePattern, guardPattern } from './safe-pattern.js';
import { isUnderPath } from './under-path.js';

type Arguments = Readonly<Record<string, Json>>;
export type ArgumentTest = (args: Arguments, workspace: string | undefined) => boolean;

/** A test whether some value at the path satisfies every operator of the condition. A missing value satisfies none. */
export function compileArgument(condition: ArgumentCondition): ArgumentTest {
  const steps = parsePath(condition.path) ?? [];
  const operators = compileOperators(condition);
  return (args, workspace) =>
    valuesAt({ ...args }, steps).some((value) => operators.every((operator) => operator(value, workspace)));
}

type Operator = (value: Json, workspace: string | undefined) => boolean;

function compileOperators(condition: ArgumentCondition): Operator[] {
  const { equals, glob, regex, gt, lt, in: among, 'under-path': folders } = condition;
  const operators: Operator[] = [];
  if (equals !== undefined) operators.push((value) => isDeepStrictEqual(value, equals));
  if (among !== undefined) operators.push((value) => among.some((item) => isDeepStrictEqual(value, item)));
  if (glob !== undefined) {
    const pattern = guardPattern(picomatch.makeRe(glob, { dot: true }));
    operators.push((value) => leavesOf(value).some((leaf) => pattern.test(leaf)));
  }
  if (regex !== undefined) {
    const pattern = compilePattern(regex);
    operators.push((value) => leavesOf(value).some((leaf) => pattern.test(leaf)));
  }
  if (folders !== undefined) {
    operators.push((value, workspace) =>
      leavesOf(value).some((leaf) => folders.some((folder) => isUnderPath(leaf, folder, workspace))),
    );
  }
  if (gt !== undefined) operators.push((value) => typeof value === 'number' && value > gt);
  if (lt !== undefined) operators.push((value) => typeof value === 'number' && value < lt);
  return operators;
}
