import type { ContentBlock, Json } from '@jetloop/contracts';
import { isObject, type JsonObject } from './frame.js';

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
export function readChunk(params: JsonObject, update: JsonObject): Chunk | undefined {
  const { sessionUpdate: _tag, content, messageId = null, ...ofUpdate } = update;
  if (!isObject(content) || (messageId !== null && typeof messageId !== 'string')) return undefined;
  const read = readContent(content);
  if (!read) return undefined;
  const { sessionId: _session, update: _update, ...ofParams } = params;
  const rest = {
    ...ofUpdate,
    ...(isEmpty(read.rest) ? {} : { content: read.rest }),
    ...(isEmpty(ofParams) ? {} : { params: ofParams }),
  };
  const { text, block } = read;
  const size = text === undefined ? JSON.stringify(block).length : Buffer.byteLength(text);
  return {
    messageId: messageId ?? undefined,
    size,
    ...(text === undefined ? {} : { text }),
    ...(block ? { block } : {}),
    ...(isEmpty(rest) ? {} : { rest }),
  };
}

/** What a content of the protocol is as text or block, and the fields that these cannot hold. */
function readContent(content: JsonObject): { text?: string; block?: ContentBlock; rest: JsonObject } | undefined {
  const { type, ...fields } = content;
  switch (type) {
    case 'text': {
      const { text, ...rest } = fields;
      return typeof text === 'string' ? { text, rest } : undefined;
    }
    case 'image': {
      const { data, mimeType, uri = null, ...rest } = fields;
      if (typeof data !== 'string' || typeof mimeType !== 'string') return undefined;
      const url = typeof uri === 'string' ? { url: uri } : {};
      return { block: { type: 'image', mediaType: mimeType, base64: data, ...url }, rest };
    }
    case 'resource_link': {
      const { uri, mimeType = null, ...rest } = fields;
      if (typeof uri !== 'string' || typeof rest['name'] !== 'string') return undefined;
      const mediaType = typeof mimeType === 'string' ? { mediaType: mimeType } : {};
      return { block: { type: 'resource', uri, ...mediaType }, rest };
    }
    case 'resource': {
      if (!isObject(fields['resource'])) return undefined;
      return { block: { type: 'json', value: content }, rest: {} };
    }
    case 'audio':
      if (typeof fields['data'] !== 'string' || typeof fields['mimeType'] !== 'string') return undefined;
      return { block: { type: 'json', value: content }, rest: {} };
    default:
      return undefined;
  }
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0;
}
