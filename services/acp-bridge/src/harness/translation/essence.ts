import type { Json } from '@jetloop/contracts';
import { PERMISSION_ASK } from '@jetloop/session';
import { isObject, writable, type JsonObject, type Received } from './frame.js';

/** Characters of a title that a question shows. */
const MAX_TITLE = 1_000;

/**
 * What a session is driven by of a frame's value: the agent's session, and what a permission is about. It stays in the log
 * where the rest of the value is kept by reference, or as the line that it came in.
 */
export function essence(source: string, value: Json): JsonObject {
  if (!isObject(value)) return {};
  const { result, toolCall } = value;
  if (source === 'session/new' && isObject(result)) return { result: textsOf(result, 'sessionId') };
  if (source === PERMISSION_ASK && isObject(toolCall)) return { toolCall: textsOf(toolCall, 'toolCallId', 'title') };
  return {};
}

/** The value for the log of a frame that a session is driven by. */
export function writableWithEssence(source: string, value: Json, frame: Received): Json {
  const written = writable(value, frame);
  return written === value || !isObject(written) ? written : { ...written, ...essence(source, value) };
}

function textsOf(object: JsonObject, ...fields: readonly string[]): JsonObject {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const text = object[field];
      if (typeof text !== 'string') return [];
      return [[field, field === 'title' ? text.slice(0, MAX_TITLE) : text]];
    }),
  );
}
