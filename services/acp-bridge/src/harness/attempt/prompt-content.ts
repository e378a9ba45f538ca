import type { ContentBlock, Json, RecordedEvent, UnknownEvent } from '@jetloop/contracts';
import { isKnownEvent } from '@jetloop/contracts';
import { deriveMessages } from '@jetloop/session';
import { harness } from './harness-failure.js';

/** What an agent says that a prompt may hold beside text and links. */
export interface PromptCapabilities {
  readonly image: boolean;
  readonly embeddedContext: boolean;
}

/**
 * What one step's prompt is made of: the turn's messages and the context that came since the prompt before, as the model
 * of a native turn would see them (spec 6.1).
 */
export function promptBlocks(
  events: readonly (RecordedEvent | UnknownEvent)[],
  turn: number,
  step: number,
): ContentBlock[] {
  const start = events.findIndex(
    (event) =>
      isKnownEvent(event) && event.type === 'step.start' && event.data.turn === turn && event.data.step === step,
  );
  const before = events.slice(0, Math.max(0, start));
  const last = before.findLastIndex((event) => event.type === 'step.start');
  const said = before
    .slice(last + 1)
    .filter(({ type }) => type === 'user.message' || type === 'context.message' || type === 'steering.message');
  return deriveMessages(said).flatMap(({ content }) => content);
}

/** A block as the protocol has it. @throws HarnessFailure when the agent does not take such content */
export function toPromptContent(block: ContentBlock, capabilities: PromptCapabilities): Json {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return { type: 'text', text: block.text };
    case 'image': {
      if (!capabilities.image) throw unsupported('images');
      if (block.base64 === undefined) throw unsupported('images by their address');
      const uri = block.url === undefined ? {} : { uri: block.url };
      return { type: 'image', data: block.base64, mimeType: block.mediaType, ...uri };
    }
    case 'resource': {
      const mimeType = block.mediaType === undefined ? {} : { mimeType: block.mediaType };
      if (block.text === undefined) return { type: 'resource_link', uri: block.uri, name: block.uri, ...mimeType };
      if (!capabilities.embeddedContext) throw unsupported('embedded resources');
      return { type: 'resource', resource: { uri: block.uri, text: block.text, ...mimeType } };
    }
    case 'json':
      return { type: 'text', text: JSON.stringify(block.value) };
    case 'tool-call':
    case 'blob':
      throw unsupported(`blocks of type ${block.type}`);
  }
}

function unsupported(what: string) {
  return harness('unsupported_content', `The agent does not take ${what}, and the prompt holds one: it was not sent.`);
}
