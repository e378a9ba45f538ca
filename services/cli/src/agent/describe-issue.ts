import type { z } from 'zod';
import { cut } from '../render/format.js';
import { expectationAt, fieldsAt } from './expectation.js';

type Issue = z.core.$ZodIssue;

/** Characters of a wrong value that are shown. */
const SHOWN = 40;

/** What is wrong with a spec, a line each: file, path, expectation, and what was found. */
export function describeIssue(issue: Issue, root: unknown, file: string): string[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(path);
    return issue.keys.map((key) => `${file}: ${formatPath([...path, key])}: unknown field${instead(key, known)}`);
  }
  if (issue.code === 'invalid_union') {
    const nearest = nearestBranch(issue.errors);
    if (nearest)
      return nearest.flatMap((inner) => describeIssue({ ...inner, path: [...path, ...inner.path] }, root, file));
  }
  if (issue.code === 'invalid_key') {
    const reasons = issue.issues.map(({ message }) => message).join('; ');
    return [`${file}: ${formatPath(path.slice(0, -1))}: the name ${JSON.stringify(path.at(-1))}: ${reasons}`];
  }
  const where = path.length === 0 ? '' : `${formatPath(path)}: `;
  return [`${file}: ${where}expected ${expected(issue)}, got ${found(root, path)}`];
}

/** The branch that fits best: the one whose mistakes are fewest. */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches.toSorted((one, other) => one.length - other.length)[0];
}

function expected(issue: Issue): string {
  const said = /^expected (.*)$/.exec(issue.message)?.[1];
  if (issue.code === 'custom' || issue.code === 'invalid_format') return said ?? issue.message;
  if (issue.code === 'too_small' && issue.origin === 'string') return 'text that is not empty';
  if (issue.code === 'too_small' && issue.origin === 'array') return said ?? `at least ${issue.minimum} of them`;
  return expectationAt(issue.path) ?? said ?? issue.message;
}

function found(root: unknown, path: readonly PropertyKey[]): string {
  const value = path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null
        ? Object.entries(at).find(([name]) => name === String(key))?.[1]
        : undefined,
    root,
  );
  return value === undefined ? 'nothing' : cut(JSON.stringify(value), SHOWN);
}

/** `modes[0].id` */
function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}${text && '.'}${String(key)}`),
    '',
  );
}

function instead(key: string, known: readonly string[]): string {
  const alike = known.find((name) => name.toLowerCase().startsWith(key.toLowerCase().slice(0, 4)));
  if (alike !== undefined) return `: did you mean ${alike}?`;
  return known.length === 0 ? '' : `; expected one of ${known.join(', ')}`;
}
