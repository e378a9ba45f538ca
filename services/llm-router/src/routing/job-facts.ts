import {
  isKnownEvent,
  type ContentBlock,
  type DerivedMessage,
  type RecordedEvent,
  type UnknownEvent,
} from '@jetloop/contracts';
import type { ToolSchema } from '../adapter/part.js';
import { estimateTokens } from './estimate-tokens.js';

type ImageBlock = Extract<ContentBlock, { type: 'image' }>;

/** What routing must know of a request before any I/O. */
export interface JobFacts {
  /** Images of the turn's own user messages; older ones become a note where a target cannot take them. */
  readonly images: readonly ImageBlock[];
  readonly thinking: boolean;
  /** Low estimate of the prompt's tokens. */
  readonly tokens: number;
  /** The turn has tool results already: an empty answer is then an ordinary end. */
  readonly afterToolRound: boolean;
}

export interface FactsInput {
  readonly events: readonly (RecordedEvent | UnknownEvent)[];
  readonly turn: number;
  readonly thinking: boolean;
  readonly systemPrompt: string;
  readonly messages: readonly DerivedMessage[];
  readonly tools: readonly ToolSchema[];
}

export function jobFacts({ events, turn, thinking, ...request }: FactsInput): JobFacts {
  const ofTurn = events.filter(isKnownEvent).filter(({ data }) => 'turn' in data && data.turn === turn);
  const images = ofTurn.flatMap((event) =>
    event.type === 'user.message' ? event.data.content.filter((block) => block.type === 'image') : [],
  );
  const afterToolRound = ofTurn.some(({ type }) => type === 'tool.result');
  return { images, thinking, tokens: estimateTokens(request), afterToolRound };
}
