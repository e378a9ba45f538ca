import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { PromptAnswer } from './prompt-answer.js';

/** An open question of the log, for a person. */
export interface Question {
  readonly approvalId: string;
  readonly question: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  readonly toolCall: ToolCallUpdate;
}

/** What an event of the log comes to for an editor, in this order. */
export type Told =
  | { readonly kind: 'update'; readonly update: SessionUpdate }
  | { readonly kind: 'asked'; readonly question: Question }
  | { readonly kind: 'decided'; readonly approvalId: string }
  /** The messages are done with: their turn ended, or none will take them. */
  | { readonly kind: 'ended'; readonly messageIds: readonly string[]; readonly answer: PromptAnswer };
