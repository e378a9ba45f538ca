import type { DerivedMessage } from '@jetloop/contracts';

/** Whether the turn has had a tool round: a result behind its last user message (context and steering are none). */
export function answersToolRound(messages: readonly DerivedMessage[]): boolean {
  const lastUser = messages.findLastIndex((message) => message.role === 'user' && !isAside(message));
  return messages.slice(lastUser + 1).some((message) => message.role === 'tool');
}

function isAside({ content: [first] }: DerivedMessage): boolean {
  return first?.type === 'text' && /^<(context|steering) source="/.test(first.text);
}
