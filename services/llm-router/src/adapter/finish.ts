import type { FinishReason, LlmError } from '@jetloop/contracts';
import { AttemptFailure } from './http/attempt-failure.js';
import { llmError } from './http/provider-error.js';
import type { Part } from './part.js';

/** From the strongest to the weakest: an answer that was filtered or cut never counts as a call (spec 4.5). */
const ORDER = ['content-filter', 'max-tokens', 'tool-calls', 'stop'] as const;

const KNOWN: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  length: 'max-tokens',
  max_tokens: 'max-tokens',
  model_length: 'max-tokens',
  model_context_window_exceeded: 'max-tokens',
  // Google: the request's own cap was reached, more could be asked for.
  continuation: 'max-tokens',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  safety: 'content-filter',
  refusal: 'content-filter',
  sensitive: 'content-filter',
  recitation: 'content-filter',
  blocklist: 'content-filter',
  prohibited_content: 'content-filter',
  spii: 'content-filter',
  image_safety: 'content-filter',
  language: 'content-filter',
};

/** Not an answer: the provider stopped for want of resources, or failed, and says so in place of a reason. */
const FAILED: Readonly<Record<string, LlmError['code'] & ('overloaded' | 'server_error' | 'tool_call_assembly')>> = {
  error: 'server_error',
  insufficient_system_resource: 'overloaded',
  malformed_function_call: 'tool_call_assembly',
  unexpected_tool_call: 'tool_call_assembly',
  too_many_tool_calls: 'tool_call_assembly',
};

/** What an answer held when it ended. */
export interface EndFacts {
  /** All that the provider gave as its reason, in order; none: it gave none, which is no end of an answer. */
  readonly reasons: readonly string[];
  readonly calls: boolean;
  readonly refused: boolean;
  /** Anything at all: text, reasoning, a call. */
  readonly said: boolean;
  /** Behind a tool round an answer without anything is the end of the turn, else it is a failure. */
  readonly mayBeEmpty: boolean;
}

/**
 * The last part of an answer, the same for every dialect.
 * @throws AttemptFailure where it is no complete answer
 */
export function finishPart(facts: EndFacts): Part {
  const { reasons, calls, refused, said, mayBeEmpty } = facts;
  const raw = reasons.at(-1);
  if (raw === undefined && !refused) throw failed('incomplete_stream', 'the answer ended without its finish reason');
  for (const given of reasons) {
    const code = FAILED[given.toLowerCase()];
    if (code) throw failed(code, `the provider ended its answer with ${given}`);
  }
  const reason = finishOf(reasons, { calls, refused });
  if (reason === 'tool-calls' && !calls) throw failed('tool_call_assembly', 'the answer tells of calls, none came');
  if (reason === 'stop' && !said && !mayBeEmpty) throw failed('empty_response', 'the answer is empty');
  return { kind: 'finish', reason, ...(raw === undefined ? {} : { raw }) };
}

/** The finish of an answer from all that the provider gave as its reason; unknown reasons decide by content. */
function finishOf(raw: readonly string[], facts: { calls: boolean; refused: boolean }): FinishReason {
  const reasons = new Set(raw.map((reason) => KNOWN[reason.toLowerCase()]));
  if (facts.refused) reasons.add('content-filter');
  if (facts.calls) reasons.add('tool-calls');
  return ORDER.find((reason) => reasons.has(reason)) ?? 'stop';
}

function failed(code: Parameters<typeof llmError>[0], message: string): AttemptFailure {
  return new AttemptFailure(llmError(code, message));
}
