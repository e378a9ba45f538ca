import type { PlannedResponse } from '../planned-response.js';
import type { ProviderWire, WireAnswer, WireCall, WireFinish, WireReasoning, WireUsage } from './provider-wire.js';
import { serverEvent } from './server-event.js';

const REASONS: Readonly<Record<WireFinish, string>> = {
  stop: 'STOP',
  // There is no reason of its own for calls.
  'tool-calls': 'STOP',
  'max-tokens': 'MAX_TOKENS',
  'content-filter': 'SAFETY',
};

/** The Gemini API. Calls are whole, and the signature of a thought stands on the part behind it. */
export class GoogleWire implements ProviderWire {
  readonly dialect = 'google';

  begin(): string {
    return chunk([{ text: '' }]);
  }

  text(text: string): string {
    return chunk([{ text }]);
  }

  reasoning(reasoning: WireReasoning): string {
    return chunk([thoughtPart(reasoning)]);
  }

  call(call: WireCall): string {
    return chunk([callPart(call)]);
  }

  usage(usage: WireUsage): string {
    return serverEvent({ candidates: [{ content: { role: 'model', parts: [] }, index: 0 }], ...counted(usage) });
  }

  end(finish: WireFinish, usage?: WireUsage): string {
    const candidate = { content: { role: 'model', parts: [{ text: '' }] }, finishReason: REASONS[finish], index: 0 };
    return serverEvent({ candidates: [candidate], ...counted(usage), modelVersion: 'served-1' });
  }

  overloaded(): string {
    return serverEvent({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } });
  }

  whole({ reasoning = [], text, calls = [], finish, usage }: WireAnswer): string {
    const parts = [...reasoning.map(thoughtPart), ...(text === undefined ? [] : [{ text }]), ...calls.map(callPart)];
    const candidate = { content: { role: 'model', parts }, finishReason: REASONS[finish], index: 0 };
    return JSON.stringify({ candidates: [candidate], ...counted(usage), modelVersion: 'served-1' });
  }

  refusal(status: number, message: string, code = 'INVALID_ARGUMENT'): PlannedResponse {
    return { status, body: JSON.stringify({ error: { code: status, message, status: code } }) };
  }
}

function chunk(parts: readonly object[]): string {
  return serverEvent({ candidates: [{ content: { role: 'model', parts }, index: 0 }], modelVersion: 'served-1' });
}

function thoughtPart({ text, signature }: WireReasoning) {
  return { text, thought: true, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
}

function callPart({ id, name, arguments: text, signature }: WireCall) {
  const args: unknown = JSON.parse(text);
  return { functionCall: { id, name, args }, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
}

/** The prompt holds what the cache gave; a write into the cache is not told of. */
function counted(usage: WireUsage | undefined) {
  if (!usage) return {};
  const { input, cacheRead = 0, cacheWrite = 0, output } = usage;
  const prompt = input + cacheRead + cacheWrite;
  return {
    usageMetadata: {
      promptTokenCount: prompt,
      cachedContentTokenCount: cacheRead,
      candidatesTokenCount: output,
      totalTokenCount: prompt + output,
    },
  };
}
