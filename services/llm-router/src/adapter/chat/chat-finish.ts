import type { FinishReason } from '@jetloop/contracts';

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
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  safety: 'content-filter',
  refusal: 'content-filter',
  sensitive: 'content-filter',
};

/** The finish of an answer from all that the provider gave as its reason; unknown reasons decide by content. */
export function finishOf(raw: readonly string[], facts: { calls: boolean; refused: boolean }): FinishReason {
  const reasons = new Set(raw.map((reason) => KNOWN[reason.toLowerCase()]));
  if (facts.refused) reasons.add('content-filter');
  if (facts.calls) reasons.add('tool-calls');
  return ORDER.find((reason) => reasons.has(reason)) ?? 'stop';
}
