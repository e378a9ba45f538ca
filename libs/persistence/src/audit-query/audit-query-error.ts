export interface AuditQueryProblem {
  /** SQLSTATE, such as `42703`. */
  readonly code?: string;
  /** Where in the query, counted in characters from 1. */
  readonly position?: number;
  readonly detail?: string;
  readonly hint?: string;
}

/** An audit query that was refused or failed. The message holds what PostgreSQL said, where, and its hint. */
export class AuditQueryError extends Error {
  override readonly name = 'AuditQueryError';
  readonly code: string | undefined;
  readonly position: number | undefined;
  readonly detail: string | undefined;
  readonly hint: string | undefined;

  constructor(said: string, query: string, problem: AuditQueryProblem = {}, cause?: unknown) {
    const { code, position, detail, hint } = problem;
    const lines = [said];
    if (position !== undefined) lines.push(pointAt(query, position));
    if (detail !== undefined) lines.push(`Detail: ${detail}`);
    if (hint !== undefined) lines.push(`Hint: ${hint}`);
    super(lines.join('\n'), { cause });
    this.code = code;
    this.position = position;
    this.detail = detail;
    this.hint = hint;
  }
}

/** The line of the query that is meant, with a mark below the place. PostgreSQL counts code points. */
function pointAt(query: string, position: number): string {
  const before = Array.from(query)
    .slice(0, position - 1)
    .join('');
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = query.slice(lineStart).split('\n', 1)[0] ?? '';
  const lineNumber = before.split('\n').length;
  const prefix = `line ${lineNumber}: `;
  const indent = before.slice(lineStart).replace(/[^\t]/gu, ' ');
  return `${prefix}${line}\n${' '.repeat(prefix.length)}${indent}^`;
}
