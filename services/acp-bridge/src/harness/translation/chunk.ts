import type { ContentBlock, Json } from '@jetloop/contracts';
import { isObject, writable, type JsonObject, type Received } from './frame.js';

/** A piece of a message. Either text, or a block that keeps its place in it. */
export interface Chunk {
  readonly messageId: string | undefined;
  readonly text?: string;
  readonly block?: ContentBlock;
  /** What the chunk held beside its content (`_meta`, annotations …), each where it stood; absent: nothing. */
  readonly rest?: Json;
  /** Bytes that it adds to its message. */
  readonly size: number;
}

/** Reads a chunk; undefined: its content is none of the schema. */
export function readChunk(params: JsonObject, update: JsonObject, frame: Received): Chunk | undefined {
  const { sessionUpdate: _tag, content, messageId = null, ...ofUpdate } = update;
  if (!isObject(content) || (messageId !== null && typeof messageId !== 'string')) return undefined;
  const read = readContent(content, frame);
  if (!read) return undefined;
  const { sessionId: _session, update: _update, ...ofParams } = params;
  const beside = {
    ...ofUpdate,
    ...(isEmpty(read.rest) ? {} : { content: read.rest }),
    ...(isEmpty(ofParams) ? {} : { params: ofParams }),
  };
  // What JSON cannot write back stays beside its message as it came.
  const rest = isEmpty(beside) && frame.flaw === undefined ? undefined : writable(beside, frame);
  const { text, block } = read;
  const size = text === undefined ? JSON.stringify(block).length : Buffer.byteLength(text);
  return {
    messageId: messageId ?? undefined,
    size,
    ...(text === undefined ? {} : { text }),
    ...(block ? { block } : {}),
    ...(rest === undefined ? {} : { rest }),
  };
}

/** What a content of the protocol is as text or block, and the fields that these cannot hold. */
function readContent(
  content: JsonObject,
  frame: Received,
): { text?: string; block?: ContentBlock; rest: JsonObject } | undefined {
  const { type, ...fields } = content;
  switch (type) {
    case 'text': {
      const { text, ...rest } = fields;
      return typeof text === 'string' ? { text, rest } : undefined;
    }
    case 'image': {
      const { data, mimeType, ...more } = fields;
      if (typeof data !== 'string' || typeof mimeType !== 'string') return undefined;
      const { text: url, rest } = takeText(more, 'uri');
      return {
        block: { type: 'image', mediaType: mimeType, base64: data, ...(url === undefined ? {} : { url }) },
        rest,
      };
    }
    case 'resource_link': {
      const { uri, ...more } = fields;
      if (typeof uri !== 'string' || typeof more['name'] !== 'string') return undefined;
      const { text: mediaType, rest } = takeText(more, 'mimeType');
      return { block: { type: 'resource', uri, ...(mediaType === undefined ? {} : { mediaType }) }, rest };
    }
    case 'resource': {
      if (!isObject(fields['resource'])) return undefined;
      return { block: { type: 'json', value: writable(content, frame) }, rest: {} };
    }
    case 'audio':
      if (typeof fields['data'] !== 'string' || typeof fields['mimeType'] !== 'string') return undefined;
      return { block: { type: 'json', value: writable(content, frame) }, rest: {} };
    default:
      return undefined;
  }
}

/** A field that a block holds where it is a text. */
function takeText(fields: JsonObject, name: string): { readonly text: string | undefined; readonly rest: JsonObject } {
  const { [name]: value = null, ...rest } = fields;
  if (typeof value === 'string') return { text: value, rest };
  return { text: undefined, rest: value === null ? rest : fields };
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}
