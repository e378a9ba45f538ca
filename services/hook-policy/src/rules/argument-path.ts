import type { Json } from '@jetloop/contracts';

const step = /(?:^|\.)([^.[\]]+)|\[(\d+|\*)\]/y;

/** The steps of a path such as `edits[*].path`, `a.b` or `items[0]`; undefined when it is no path. */
export function parsePath(path: string): string[] | undefined {
  const steps: string[] = [];
  step.lastIndex = 0;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (!match) return undefined;
    steps.push(match[1] ?? match[2] ?? '');
  }
  return steps.length > 0 ? steps : undefined;
}

/** All values that the path leads to; `*` goes to every element or field. */
export function valuesAt(value: Json, steps: readonly string[]): Json[] {
  const [head, ...rest] = steps;
  if (head === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (head === '*') return Object.values(value).flatMap((item) => valuesAt(item, rest));
  // Own fields only: `constructor` is no argument.
  const own = Object.entries(value).find(([key]) => key === head);
  return own ? valuesAt(own[1], rest) : [];
}

/** Every text, number and truth value in a value, as text: no operator is escaped by wrapping a text in a list. */
export function leavesOf(value: Json): string[] {
  if (value === null) return [];
  if (typeof value === 'object') return Object.values(value).flatMap(leavesOf);
  return [String(value)];
}
