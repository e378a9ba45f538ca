import type { ContentBlock } from '@jetloop/contracts';
import type { ModelRequest } from '../adapter.js';
import type { RequestFacts } from './provider-error.js';
import { schemaWords } from './schema-words.js';

const CHARACTERS_A_TOKEN = 4;
/** Characters of an image that are looked for: an echo begins with the first of them. */
const IMAGE_HEAD = 64 * 1024;

/** What an error answer is judged and cleaned with; collected only when there is one. */
export function requestFacts(request: ModelRequest, bodyLength: number, key: string | undefined): RequestFacts {
  const { systemPrompt, messages, tools, output, target } = request;
  const texts = [
    systemPrompt,
    ...messages.flatMap(({ content }) => content.flatMap(textsOf)),
    ...tools.flatMap(({ description, inputSchema }) => [description, ...schemaWords(inputSchema)]),
    ...schemaWords(output?.schema),
    ...(key === undefined ? [] : [key]),
  ];
  const size = { tokens: Math.floor(bodyLength / CHARACTERS_A_TOKEN), window: target.capabilities.contextWindow };
  return { size, secrets: texts.filter((text) => text.trim() !== '') };
}

function textsOf(block: ContentBlock): string[] {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return [block.text];
    case 'tool-call':
      return [block.arguments];
    case 'json':
      return [JSON.stringify(block.value)];
    case 'resource':
      return block.text === undefined ? [block.uri] : [block.uri, block.text];
    case 'image':
      return [block.url ?? block.base64?.slice(0, IMAGE_HEAD) ?? ''];
    case 'blob':
      return [];
  }
}
