import type { PlannedResponse } from '@jetloop/testing';
import type { Said } from './said.js';

/** An answer as Gemini writes it: a stream of one frame, or a whole body. */
export function googleAnswer(said: Said, isStreamed: boolean): PlannedResponse {
  const { text, calls = [], usage: [prompt, candidates] = [10, 5] } = said;
  const parts = [
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, arguments: args = '{}' }) => ({ functionCall: { name, args: JSON.parse(args) as unknown } })),
  ];
  const body = JSON.stringify({
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: candidates,
      totalTokenCount: prompt + candidates,
    },
  });
  return isStreamed ? { chunks: [`data: ${body}\n\n`] } : { body };
}
