import { prepareHistory } from '../../history/prepare-history.js';
import type { PreparedMessage } from '../../history/prepared-message.js';
import type { ToolNames } from '../../history/tool-names.js';
import type { ModelRequest } from '../adapter.js';

type WirePart =
  | { readonly type: 'text'; readonly text: string; readonly cache_control?: { readonly type: string } }
  | {
      readonly type: 'image_url';
      readonly image_url: { readonly url: string };
      readonly cache_control?: { readonly type: string };
    };
interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}
export type WireMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly WirePart[] }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly WireCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

/** The conversation as chat providers take it. Reasoning never goes back: the dialect has no place for it. */
export function chatMessages({ systemPrompt, messages, target }: ModelRequest, names: ToolNames): WireMessage[] {
  const prepared = prepareHistory(messages, target, { keepsState: () => false, imagesInResults: false });
  const system: WireMessage[] = systemPrompt.trim() === '' ? [] : [{ role: 'system', content: systemPrompt }];
  return [...system, ...prepared.map((message) => wireMessage(message, names, target.capabilities.promptCaching))];
}

function wireMessage(message: PreparedMessage, names: ToolNames, promptCaching: boolean): WireMessage {
  const { role, content, callId = '' } = message;
  if (role === 'user') return { role, content: userContent(content, promptCaching) };
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  if (role === 'tool') return { role, tool_call_id: callId, content: text };
  const calls = content.flatMap((block): WireCall[] =>
    block.type === 'tool-call'
      ? [{ id: block.id, type: 'function', function: { name: names.toWire(block.name), arguments: block.arguments } }]
      : [],
  );
  return { role, content: text === '' ? null : text, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

/** Plain text where it says all: not every server of this dialect takes parts. */
function userContent(content: PreparedMessage['content'], promptCaching: boolean): string | WirePart[] {
  const parts = content.flatMap((block): WirePart[] => {
    if (block.type !== 'text' && block.type !== 'image') return [];
    const cache = promptCaching && block.cache ? { cache_control: block.cache } : {};
    if (block.type === 'text') return [{ type: 'text', text: block.text, ...cache }];
    const url = block.base64 === undefined ? (block.url ?? '') : `data:${block.mediaType};base64,${block.base64}`;
    return [{ type: 'image_url', image_url: { url }, ...cache }];
  });
  const texts = parts.flatMap((part) => (part.type === 'text' && !part.cache_control ? [part.text] : []));
  return texts.length === parts.length ? texts.join('\n') : parts;
}
