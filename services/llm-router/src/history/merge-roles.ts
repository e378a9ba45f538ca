import type { PreparedMessage } from './prepared-message.js';

/** One message for neighbours of one role, as strict providers want it. Results stay apart: each answers a call. */
export function mergeRoles(messages: readonly PreparedMessage[]): PreparedMessage[] {
  const merged: PreparedMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === message.role && message.role !== 'tool') {
      merged[merged.length - 1] = { ...last, content: [...last.content, ...message.content] };
    } else {
      merged.push(message);
    }
  }
  return merged;
}
