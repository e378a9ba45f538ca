import type { PlannedResponse } from '../planned-response.js';
import type { ReplayDialect } from '../replay-fixture.js';
import { AnthropicWire } from './anthropic-wire.js';
import { ChatWire } from './chat-wire.js';
import { GoogleWire } from './google-wire.js';
import type { ProviderWire, WireAnswer } from './provider-wire.js';

/** A writer for one answer in a dialect. */
export function wireOf(dialect: ReplayDialect): ProviderWire {
  switch (dialect) {
    case 'chat':
      return new ChatWire();
    case 'anthropic':
      return new AnthropicWire();
    case 'google':
      return new GoogleWire();
  }
}

/**
 * A complete answer, streamed or whole.
 * @example
 * provider.respond(wireAnswer('anthropic', { text: 'Hello', finish: 'stop', usage: { input: 10, output: 5 } }));
 */
export function wireAnswer(dialect: ReplayDialect, answer: WireAnswer, stream = true): PlannedResponse {
  const wire = wireOf(dialect);
  if (!stream) return { body: wire.whole(answer) };
  const { reasoning = [], text, calls = [], finish, usage } = answer;
  const said = [
    ...reasoning.map((each) => wire.reasoning(each)),
    ...(text === undefined ? [] : [wire.text(text)]),
    ...calls.map((call) => wire.call(call)),
  ];
  return { chunks: [wire.begin(usage), ...said, wire.end(finish, usage)] };
}
