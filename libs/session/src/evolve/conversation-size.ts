import type { ContentBlock, RecordedEvent } from '@jetloop/contracts';
import type { ConversationSize } from '../state.js';

/** Characters that stand for a block whose length in tokens cannot be told from its text: an image, a blob. */
const OPAQUE_CHARACTERS = 4_000;
/** Characters a token, roughly. */
const CHARACTERS_PER_TOKEN = 4;

/** Tokens of the conversation, roughly. */
export function estimatedTokens({ characters }: ConversationSize): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** The size after an event. A conversation may be cut behind each step and turn: there every call has its result. */
export function grown(size: ConversationSize, event: RecordedEvent): ConversationSize {
  switch (event.type) {
    case 'session.created': {
      const history = event.data.history ?? [];
      return plus(
        size,
        history.reduce((total, { content }) => total + charactersOf(content, OPAQUE_CHARACTERS), 0),
      );
    }
    case 'user.message':
    case 'context.message':
    case 'steering.message':
    case 'assistant.message':
    case 'tool.result':
      return plus(size, charactersOf(event.data.content, OPAQUE_CHARACTERS));
    case 'step.end':
    case 'turn.end': {
      // Cuts ascend: only the last one can be at the same place.
      const before = size.cuts.at(-1)?.characters === size.characters ? size.cuts.slice(0, -1) : size.cuts;
      return { ...size, cuts: [...before, { sequence: event.sequence, characters: size.characters }] };
    }
    case 'compaction.summary': {
      const { to } = event.data.replaced;
      const cut = size.cuts.findLast(({ sequence }) => sequence <= to)?.characters ?? 0;
      const change = charactersOf(event.data.summary, OPAQUE_CHARACTERS) - cut;
      const cuts = size.cuts.filter(({ sequence }) => sequence > to);
      return {
        characters: size.characters + change,
        cuts: cuts.map(({ sequence, characters }) => ({ sequence, characters: characters + change })),
      };
    }
    default:
      return size;
  }
}

function plus(size: ConversationSize, characters: number): ConversationSize {
  return { ...size, characters: size.characters + characters };
}

/** Characters of a content; `opaque` stands for each block whose length its text does not tell. */
export function charactersOf(content: readonly ContentBlock[], opaque: number): number {
  return content.reduce((total, block) => total + blockCharacters(block, opaque), 0);
}

function blockCharacters(block: ContentBlock, opaque: number): number {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return block.text.length;
    case 'tool-call':
      return block.name.length + block.arguments.length;
    case 'resource':
      return block.text?.length ?? opaque;
    case 'json':
      return JSON.stringify(block.value).length;
    case 'image':
    case 'blob':
      return opaque;
  }
}
