import { LineCounter, parseDocument, type Document } from 'yaml';
import { policySetSchema, type PolicySet } from './policy-set.schema.js';

/** One thing that is wrong with a policy set; `path` such as `policies[2].decide.deny`. */
export interface PolicySetProblem {
  path: string;
  message: string;
  line?: number;
}

/** A policy set that cannot be used. The message names file, line and path, and what was expected. */
export class PolicySetError extends Error {
  readonly code = 'invalid';
  constructor(
    readonly file: string,
    readonly problems: readonly PolicySetProblem[],
  ) {
    super(
      problems
        .map(
          ({ path, message, line }) => `${file}${line === undefined ? '' : `:${line}`}: ${path || '(top)'}: ${message}`,
        )
        .join('\n'),
    );
    this.name = 'PolicySetError';
  }
}

/**
 * Reads a policy set from YAML or JSON. The result is the form that is stored.
 * @param file named in errors only
 * @throws PolicySetError
 */
export function parsePolicySet(text: string, file: string): PolicySet {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    throw new PolicySetError(
      file,
      document.errors.map((error) => ({ path: '', message: error.message, line: lines.linePos(error.pos[0]).line })),
    );
  }
  // The limit on aliases stops a small text from becoming a huge value.
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  return readPolicySet(value, file, (path) => lineOf(document, lines, path));
}

/** Checks a set that is a value already, such as a stored one. @throws PolicySetError */
export function readPolicySet(
  value: unknown,
  file: string,
  line: (path: PropertyKey[]) => number | undefined = () => undefined,
): PolicySet {
  const parsed = policySetSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new PolicySetError(
    file,
    parsed.error.issues.map((issue) => {
      const at = line(issue.path);
      return { path: formatPath(issue.path), message: issue.message, ...(at !== undefined && { line: at }) };
    }),
  );
}

function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}${text && '.'}${String(key)}`),
    '',
  );
}

/** The line of the deepest part of the path that is there. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    if (typeof node !== 'object' || node === null || !('range' in node) || !Array.isArray(node.range)) continue;
    const start: unknown = node.range[0];
    if (typeof start === 'number') return lines.linePos(start).line;
  }
  return undefined;
}
