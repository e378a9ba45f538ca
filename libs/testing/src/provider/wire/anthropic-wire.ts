import type { PlannedResponse } from '../planned-response.js';
import type { ProviderWire, WireAnswer, WireCall, WireFinish, WireReasoning, WireUsage } from './provider-wire.js';
import { serverEvent } from './server-event.js';

const REASONS: Readonly<Record<WireFinish, string>> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  'max-tokens': 'max_tokens',
  'content-filter': 'refusal',
};

/** Anthropic's messages. Each piece is a block of its own. */
export class AnthropicWire implements ProviderWire {
  readonly dialect = 'anthropic';
  private blocks = 0;

  begin(usage: WireUsage = { input: 1, output: 1 }): string {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'served-1', content: [] };
    const start = { ...message, stop_reason: null, stop_sequence: null, usage: anthropicUsage(usage) };
    return event({ type: 'message_start', message: start }) + event({ type: 'ping' });
  }

  text(text: string): string {
    return this.block({ type: 'text', text: '' }, [{ type: 'text_delta', text }]);
  }

  reasoning({ text, signature = '', redacted }: WireReasoning): string {
    if (redacted !== undefined) return this.block({ type: 'redacted_thinking', data: redacted }, []);
    const deltas = [
      { type: 'thinking_delta', thinking: text },
      { type: 'signature_delta', signature },
    ];
    return this.block({ type: 'thinking', thinking: '', signature: '' }, deltas);
  }

  call({ id, name, arguments: text }: WireCall): string {
    const half = Math.ceil(text.length / 2);
    const pieces = ['', text.slice(0, half), text.slice(half)];
    return this.block(
      { type: 'tool_use', id, name, input: {} },
      pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    );
  }

  usage(usage: WireUsage): string {
    return event({ type: 'message_delta', delta: { stop_reason: null }, usage: anthropicUsage(usage) });
  }

  end(finish: WireFinish, usage?: WireUsage): string {
    const delta = { stop_reason: REASONS[finish], stop_sequence: null };
    const counted = usage ? { usage: anthropicUsage(usage) } : {};
    return event({ type: 'message_delta', delta, ...counted }) + event({ type: 'message_stop' });
  }

  overloaded(): string {
    return event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
  }

  whole({ reasoning = [], text, calls = [], finish, usage }: WireAnswer): string {
    const content = [
      ...reasoning.map(({ text: thinking, signature = '', redacted }) =>
        redacted === undefined
          ? { type: 'thinking', thinking, signature }
          : { type: 'redacted_thinking', data: redacted },
      ),
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: parsed(call.arguments) })),
    ];
    const counted = usage ? { usage: anthropicUsage(usage) } : {};
    const body = { id: 'msg_1', type: 'message', role: 'assistant', model: 'served-1', content, ...counted };
    return JSON.stringify({ ...body, stop_reason: REASONS[finish], stop_sequence: null });
  }

  refusal(status: number, message: string, code = 'invalid_request_error'): PlannedResponse {
    return { status, body: JSON.stringify({ type: 'error', error: { type: code, message } }) };
  }

  private block(start: object, deltas: readonly object[]): string {
    const index = this.blocks++;
    return [
      event({ type: 'content_block_start', index, content_block: start }),
      ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ].join('');
  }
}

function event(payload: { readonly type: string; readonly [field: string]: unknown }): string {
  return serverEvent(payload, payload.type);
}

function parsed(text: string): unknown {
  return JSON.parse(text);
}

function anthropicUsage({ input, cacheRead = 0, cacheWrite = 0, output }: WireUsage) {
  return {
    input_tokens: input,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
    output_tokens: output,
  };
}
