import type { ToolReply } from '@jetloop/contracts';

/** The result of a call that was not run, or of which nothing is known. */
export function refusal(name: string, code: string, text: string): Extract<ToolReply['result'], { status: 'result' }> {
  return { status: 'result', content: [{ type: 'text', text }], isError: true, error: { name, code }, durationMs: 0 };
}
