import type { DerivedMessage, LlmError } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';

const COMMON = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const SUPPORTED = [...COMMON, 'image/heic', 'image/heif'];
const CHARACTERS_A_TOKEN = 4;

/** Why a target cannot take a request, known before any I/O; undefined when it can (spec 4.3). */
export function gate(target: Target, messages: readonly DerivedMessage[], thinking: boolean): LlmError | undefined {
  const { capabilities, name } = target;
  const refuse = (what: string): LlmError => ({
    code: 'unsupported_capability',
    message: `target ${name} does not take ${what}`,
    retryable: false,
    target: name,
  });
  if (thinking && !capabilities.thinking) return refuse('thinking');
  const types = mediaTypes(capabilities.imageMediaTypes);
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const block of message.content) {
      if (block.type !== 'image') continue;
      if (!capabilities.vision) return refuse('images');
      if (!types.includes(block.mediaType)) return refuse(`images of type ${block.mediaType}`);
      if (block.url !== undefined && !capabilities.imageUrls) return refuse('images by URL');
    }
  }
  const tokens = Math.floor(JSON.stringify(messages).length / CHARACTERS_A_TOKEN);
  if (capabilities.contextWindow !== undefined && tokens > capabilities.contextWindow) {
    const message = `about ${tokens} tokens do not fit the context window of ${capabilities.contextWindow}`;
    return { code: 'context_overflow', message, retryable: false, target: name };
  }
  return undefined;
}

function mediaTypes(value: Target['capabilities']['imageMediaTypes']): readonly string[] {
  if (value === 'common') return COMMON;
  return value === 'supported' ? SUPPORTED : value;
}
