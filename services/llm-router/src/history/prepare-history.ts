import type { ContentBlock, DerivedMessage, ToolCallBlock } from '@jetloop/contracts';
import { parseArguments } from '@jetloop/session';
import type { Target } from '../catalogue/catalogue.js';
import { imageType } from './image-type.js';
import { pairResults } from './pair-results.js';

const COMMON = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const MEDIA_TYPES = { common: COMMON, supported: [...COMMON, 'image/heic', 'image/heif'] };

type ImageBlock = Extract<ContentBlock, { type: 'image' }>;
type ReasoningBlock = Extract<ContentBlock, { type: 'reasoning' }>;
/** What is left for a dialect to write down: all else has become text. */
export type PreparedBlock = Extract<ContentBlock, { type: 'text' | 'image' | 'tool-call' | 'reasoning' }>;
export type PreparedMessage = Omit<DerivedMessage, 'content'> & { readonly content: readonly PreparedBlock[] };

export interface HistoryRules {
  /** Whether reasoning goes back to this target; chat dialects take none. */
  readonly keepsReasoning: (block: ReasoningBlock) => boolean;
  /** Whether a tool result may hold images. */
  readonly imagesInResults: boolean;
}

/**
 * The copy of a conversation that one target is sent (spec 4.5): nothing blank, nothing that the target cannot take, each
 * call with its result. Applied to its own outcome it changes nothing; the log is never touched.
 */
export function prepareHistory(
  messages: readonly DerivedMessage[],
  target: Target,
  rules: HistoryRules,
): PreparedMessage[] {
  return pairResults(messages).flatMap((message): PreparedMessage[] => {
    const content = message.content.flatMap((block) => prepareBlock(block, message.role, target, rules)).filter(isSaid);
    if (content.length > 0) return [{ ...message, content }];
    return message.role === 'tool' ? [{ ...message, content: [{ type: 'text', text: '(no output)' }] }] : [];
  });
}

function prepareBlock(
  block: ContentBlock,
  role: DerivedMessage['role'],
  target: Target,
  rules: HistoryRules,
): PreparedBlock[] {
  switch (block.type) {
    case 'text':
      return [block];
    case 'reasoning':
      return rules.keepsReasoning(block) ? [block] : [];
    case 'tool-call':
      return [withValidArguments(block)];
    case 'image':
      return [prepareImage(block, target, role === 'user' || (role === 'tool' && rules.imagesInResults))];
    case 'json':
      return [note(JSON.stringify(block.value))];
    case 'resource':
      return [note(resourceText(block))];
    case 'blob':
      return [
        note(`[${block.of} of ${block.blob.size} bytes (${block.blob.mediaType}) is kept outside the conversation]`),
      ];
  }
}

function prepareImage(block: ImageBlock, { capabilities }: Target, isTaken: boolean): PreparedBlock {
  const { vision, imageUrls, imageMediaTypes } = capabilities;
  const mediaType = block.base64 === undefined ? block.mediaType : imageType(block.base64, block.mediaType);
  const accepted = typeof imageMediaTypes === 'string' ? MEDIA_TYPES[imageMediaTypes] : imageMediaTypes;
  const reachable = block.base64 !== undefined || (block.url !== undefined && imageUrls);
  if (isTaken && vision && reachable && accepted.includes(mediaType)) return { ...block, mediaType };
  return note(`[an image (${mediaType}) that this model cannot see]`);
}

function resourceText({ uri, text, blob }: Extract<ContentBlock, { type: 'resource' }>): string {
  if (text !== undefined) return `<resource uri="${uri}">\n${text}\n</resource>`;
  return blob
    ? `[resource ${uri}: ${blob.size} bytes (${blob.mediaType}) are kept outside the conversation]`
    : `[resource ${uri}]`;
}

function withValidArguments(block: ToolCallBlock): ToolCallBlock {
  return block.arguments.trim() !== '' && parseArguments(block.arguments).ok ? block : { ...block, arguments: '{}' };
}

function isSaid(block: PreparedBlock): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}

function note(text: string): PreparedBlock {
  return { type: 'text', text };
}
