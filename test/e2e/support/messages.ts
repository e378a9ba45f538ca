import type { ContentBlock, DerivedMessage, TextBlock } from '@jetloop/contracts';
import type { ModelScript, SeenRequest } from '@jetloop/testing';

/** A content that is one text. */
export function text(said: string): TextBlock[] {
  return [{ type: 'text', text: said }];
}

/** A request in words, who said it and what: of the user a line each, of the others a message each. */
export function spoken(request: SeenRequest | undefined): string[] {
  return (request?.messages ?? []).flatMap(({ role, content, tool_calls: calls = [], tool_call_id: id }) => {
    const said = typeof content === 'string' ? content : content === null ? '' : JSON.stringify(content);
    if (role === 'user') return said.split('\n').map((line) => `user: ${line}`);
    const called = calls.map((call) => `${call.function.name}(${call.function.arguments})`).join(' ');
    return [[`${role}${id === undefined ? '' : ` ${id}`}:`, said, called].filter((part) => part !== '').join(' ')];
  });
}

/** Whether a model is asked to sum up a conversation that is compacted. */
export function asksForSummary(request: SeenRequest): boolean {
  return spoken(request).at(-1)?.includes('write the summary alone') === true;
}

/** A model that calls tools once a prompt, and then, as in a summary, says something. */
export function callsOnce(text: string, ...calls: { name: string; arguments?: unknown }[]): ModelScript {
  return (request) => {
    const said = spoken(request);
    const sincePrompt = said.slice(said.findLastIndex((line) => /^user: (?!<)/.test(line)));
    const isDone = sincePrompt.some((line) => line.startsWith('tool ')) || asksForSummary(request);
    return isDone ? { text } : { calls };
  };
}

/** Messages of a log, as `spoken` has those of a request. */
export function spokenIn(messages: readonly DerivedMessage[]): string[] {
  return messages.flatMap((message) => {
    const { role, content } = message;
    const said = content.map(textIn).filter((part) => part !== '');
    if (role === 'user') return said.map((line) => `user: ${line}`);
    return [[`${role}${role === 'tool' ? ` ${message.callId}` : ''}:`, ...said].join(' ')];
  });
}

function textIn(block: ContentBlock): string {
  if (block.type === 'tool-call') return `${block.name}(${block.arguments})`;
  return block.type === 'text' ? block.text : '';
}
