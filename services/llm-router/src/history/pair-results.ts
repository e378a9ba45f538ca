import type { PreparedBlock, PreparedMessage } from './prepared-message.js';

const INTERRUPTED = 'This call was interrupted: its result is not known.';

/**
 * Puts directly behind each assistant message exactly one result for each of its calls, in call order. Results that no
 * call asked for are left out, missing ones say so, and equal ids within one message are told apart by a number.
 */
export function pairResults(messages: readonly PreparedMessage[]): PreparedMessage[] {
  const paired: PreparedMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message?.role === 'user') paired.push(message);
    if (message?.role !== 'assistant') continue;
    const results: (PreparedMessage | undefined)[] = [];
    for (let next = at + 1; messages[next]?.role === 'tool'; next++) results.push(messages[next]);
    const ids = new Set<string>();
    const answers: PreparedMessage[] = [];
    const content = message.content.map((block): PreparedBlock => {
      if (block.type !== 'tool-call') return block;
      const found = results.findIndex((result) => result?.callId === block.id);
      const [result] = found < 0 ? [] : results.splice(found, 1);
      let id = block.id;
      for (let n = 2; ids.has(id); n++) id = `${block.id}_${n}`;
      ids.add(id);
      answers.push({ ...(result ?? interrupted(block.name)), callId: id });
      return id === block.id ? block : { ...block, id };
    });
    paired.push({ ...message, content }, ...answers);
  }
  return paired;
}

function interrupted(name: string): PreparedMessage {
  return { role: 'tool', name, content: [{ type: 'text', text: INTERRUPTED }], isError: true };
}
