import type { SettledResult } from '@jetloop/contracts';

/** What the model is told of a call that gave no result of its own. */
export interface CallError {
  readonly name: string;
  readonly code: string;
  readonly text: string;
}

/** The result of a call that did not run, or whose worker is not waited for any more. */
export function errorResult({ name, code, text }: CallError): SettledResult {
  return { content: [{ type: 'text', text }], isError: true, error: { name, code }, durationMs: 0 };
}
