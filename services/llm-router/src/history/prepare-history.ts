import type { ContentBlock, DerivedMessage, ToolCallBlock } from '@jetloop/contracts';
import { parseArguments } from '@jetloop/session';
import type { Target } from '../catalogue/catalogue.js';
import { imageType } from './image-type.js';
import { mergeRoles } from './merge-roles.js';
import { pairResults } from './pair-results.js';
import type { PreparedBlock, PreparedMessage } from './prepared-message.js';
import type { BlockState } from './reasoning-rules.js';

const COMMON = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const MEDIA_TYPES = { common: COMMON, supported: [...COMMON, 'image/heic', 'image/heif'] };

type ImageBlock = Extract<ContentBlock, { type: 'image' }>;

export interface HistoryRules {
  /** Whether reasoning state goes back to this target; chat dialects take none. */
  readonly keepsState: (state: BlockState) => boolean;
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
  const prepared = messages.flatMap((message): PreparedMessage[] => {
    const content = message.content.flatMap((block) => prepareBlock(block, message.role, target, rules)).filter(isSaid);
    // Thoughts alone are no message: providers refuse an answer that ends with them.
    if (content.some(({ type }) => type !== 'reasoning')) return [{ ...message, content }];
    return message.role === 'tool' ? [{ ...message, content: [{ type: 'text', text: '(no output)' }] }] : [];
  });
  // Results that nobody asked for stand between neighbours; without them these come together, and are paired again.
  return pairResults(mergeRoles(pairResults(mergeRoles(prepared))));
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
      return block.state && rules.keepsState(block.state) ? [block] : [];
    case 'tool-call':
      return [withValidArguments(withOwnState(block, rules))];
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

function withOwnState({ state, ...block }: ToolCallBlock, { keepsState }: HistoryRules): ToolCallBlock {
  return state && keepsState(state) ? { ...block, state } : block;
}

function isSaid(block: PreparedBlock): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}

function note(text: string): PreparedBlock {
  return { type: 'text', text };
}
