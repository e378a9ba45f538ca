import type { LlmError } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';
import type { JobFacts } from './job-facts.js';

const COMMON = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const SUPPORTED = [...COMMON, 'image/heic', 'image/heif'];

/** Why a target cannot take a request, known before any I/O; undefined when it can (spec 4.3). */
export function gate(target: Target, { images, thinking, tokens }: JobFacts): LlmError | undefined {
  const { capabilities, name } = target;
  const refuse = (what: string): LlmError => ({
    code: 'unsupported_capability',
    message: `target ${name} does not take ${what}`,
    retryable: false,
    target: name,
  });
  if (thinking && !capabilities.thinking) return refuse('thinking');
  const types = mediaTypes(capabilities.imageMediaTypes);
  for (const { mediaType, url } of images) {
    if (!capabilities.vision) return refuse('images');
    if (!types.includes(mediaType)) return refuse(`images of type ${mediaType}`);
    if (url !== undefined && !capabilities.imageUrls) return refuse('images by URL');
  }
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
