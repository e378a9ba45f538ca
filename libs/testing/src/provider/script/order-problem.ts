import type { WireMessage } from './scripted-answer.js';

/** Where messages stand that the strictest providers refuse: results out of call order, a conversation that the model begins. */
export function orderProblem(messages: readonly WireMessage[]): string | undefined {
  const conversation = messages.filter(({ role }) => role !== 'system');
  if (conversation[0]?.role !== 'user') return 'the first message must be of the user';
  let awaited: readonly string[] = [];
  for (const [at, { role, tool_calls: calls = [], tool_call_id: id }] of conversation.entries()) {
    if (role !== 'tool') {
      awaited = calls.map((call) => call.id);
      continue;
    }
    if (awaited[0] !== id) return `messages.${at}: result ${id ?? '(none)'} where ${awaited[0] ?? 'none'} was due`;
    awaited = awaited.slice(1);
  }
  const last = conversation.at(-1)?.role;
  return last === 'assistant' ? 'the last message must not be of the model' : undefined;
}
