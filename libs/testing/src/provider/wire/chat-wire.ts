import type { PlannedResponse } from '../planned-response.js';
import type { ProviderWire, WireAnswer, WireCall, WireFinish, WireReasoning, WireUsage } from './provider-wire.js';
import { serverEvent } from './server-event.js';

const REASONS: Readonly<Record<WireFinish, string>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  'max-tokens': 'length',
  'content-filter': 'content_filter',
};

/** Chat completions. Each call comes in three fragments. */
export class ChatWire implements ProviderWire {
  readonly dialect = 'chat';
  private calls = 0;

  begin(): string {
    return chunk({ role: 'assistant', content: '' });
  }

  text(text: string): string {
    return chunk({ content: text });
  }

  reasoning({ text }: WireReasoning): string {
    return chunk({ reasoning_content: text });
  }

  call({ id, name, arguments: text }: WireCall): string {
    const index = this.calls++;
    const half = Math.ceil(text.length / 2);
    const rest = [text.slice(0, half), text.slice(half)].filter((piece) => piece !== '');
    const head = { index, id, type: 'function', function: { name, arguments: '' } };
    return [head, ...rest.map((piece) => ({ index, function: { arguments: piece } }))]
      .map((fragment) => chunk({ tool_calls: [fragment] }))
      .join('');
  }

  usage(usage: WireUsage): string {
    return serverEvent({ model: 'served-1', choices: [], usage: chatUsage(usage) });
  }

  end(finish: WireFinish, usage?: WireUsage): string {
    const last = serverEvent({ model: 'served-1', choices: [{ index: 0, delta: {}, finish_reason: REASONS[finish] }] });
    return `${last}${usage ? this.usage(usage) : ''}data: [DONE]\n\n`;
  }

  overloaded(): string {
    return serverEvent({ error: { message: 'Overloaded', type: 'overloaded_error' } });
  }

  whole({ reasoning = [], text, calls = [], finish, usage }: WireAnswer): string {
    const thought = reasoning.map((each) => each.text).join('');
    const message = {
      role: 'assistant',
      content: text ?? null,
      ...(thought === '' ? {} : { reasoning_content: thought }),
      ...(calls.length > 0
        ? { tool_calls: calls.map((call) => ({ id: call.id, type: 'function', function: wireFunction(call) })) }
        : {}),
    };
    const choices = [{ index: 0, message, finish_reason: REASONS[finish] }];
    return JSON.stringify({ model: 'served-1', choices, ...(usage ? { usage: chatUsage(usage) } : {}) });
  }

  refusal(status: number, message: string, code?: string): PlannedResponse {
    return { status, body: JSON.stringify({ error: { message, type: 'invalid_request_error', code: code ?? null } }) };
  }
}

function chunk(delta: object): string {
  return serverEvent({ model: 'served-1', choices: [{ index: 0, delta, finish_reason: null }] });
}

function wireFunction({ name, arguments: text }: WireCall) {
  return { name, arguments: text };
}

/** The prompt holds what the cache gave. */
function chatUsage({ input, cacheRead = 0, cacheWrite = 0, output }: WireUsage) {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}
