import type { FinishReason, LlmError } from '@jetloop/contracts';
import type { Assembled } from '../adapter/assemble.js';

export type Verdict = { readonly finish: FinishReason } | { readonly error: LlmError };

/**
 * Whether what an attempt said is an answer, the same for every dialect (spec 4.5): it needs the protocol's own end;
 * calls turn a plain stop into `tool-calls`, and nothing at all is an answer only after a tool round of the turn.
 */
export function verdictOf({ content, end }: Assembled, afterToolRound: boolean): Verdict {
  if (!end) return failed('incomplete_stream', 'the answer stopped before its end', true);
  if ('error' in end) return end;
  const hasCalls = content.some(({ type }) => type === 'tool-call');
  if (end.finish === 'stop' && hasCalls) return { finish: 'tool-calls' };
  if (end.finish === 'tool-calls' && !hasCalls) {
    return failed('tool_call_assembly', 'the provider announced tool calls and sent none');
  }
  if (end.finish === 'stop' && content.length === 0 && !afterToolRound) {
    return failed('empty_response', 'the provider ended its answer without saying anything');
  }
  return end;
}

function failed(code: LlmError['code'], message: string, retryable = false): Verdict {
  return { error: { code, message, retryable } };
}
