import type { AnthropicBlock } from './anthropic-frame.js';

/** A block with all that its start holds, as the frames of a stream in which only deltas hold anything. */
export function blockFrames(index: number, block: AnthropicBlock): object[] {
  const start = (content: object) => ({ type: 'content_block_start', index, content_block: content });
  const deltas = (given: Readonly<Record<string, string>>) =>
    Object.entries(given).flatMap(([field, value]) =>
      value === '' ? [] : [{ type: 'content_block_delta', index, delta: { type: DELTAS[field], [field]: value } }],
    );
  switch (block.type) {
    case 'text':
      return [start({ type: 'text', text: '' }), ...deltas({ text: block.text })];
    case 'thinking': {
      const { thinking, signature } = block;
      return [start({ type: 'thinking', thinking: '', signature: '' }), ...deltas({ thinking, signature })];
    }
    case 'redacted_thinking':
      return [start(block)];
    case 'tool_use': {
      const { id, name, input = '' } = block;
      return [
        start({ type: 'tool_use', id, name, input: {} }),
        ...deltas({ partial_json: input === '{}' ? '' : input }),
      ];
    }
  }
}

const DELTAS: Readonly<Record<string, string>> = {
  text: 'text_delta',
  thinking: 'thinking_delta',
  signature: 'signature_delta',
  partial_json: 'input_json_delta',
};
/** The deltas that belong to those blocks. */
export const KNOWN_DELTAS: ReadonlySet<string> = new Set(Object.values(DELTAS));
