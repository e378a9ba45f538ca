import type { ContentBlock, DerivedMessage } from '@jetloop/contracts';

/** What is left for a dialect to write down: all else has become text. */
export type PreparedBlock = Extract<ContentBlock, { type: 'text' | 'image' | 'tool-call' | 'reasoning' }>;
export type PreparedMessage = Omit<DerivedMessage, 'content'> & { readonly content: readonly PreparedBlock[] };
