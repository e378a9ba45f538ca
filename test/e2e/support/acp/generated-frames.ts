import type { Json } from '@jetloop/contracts';
import fc from 'fast-check';
import { AGENT_SESSION, raw, type Told } from './frames.js';

/** A line that an agent writes, and what must become of it: an event of its own, or a piece of a message. */
export interface GeneratedLine {
  readonly line: string | Uint8Array;
  readonly event?: Told;
  readonly text?: string;
  /** Members of the chunk beside its text. */
  readonly beside?: Json;
}

// As it stands on the wire: -0 is 0 there.
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
const fields = fc.dictionary(
  fc.string({ minLength: 1 }).filter((key) => !['sessionUpdate', 'messageId', 'content', '__proto__'].includes(key)),
  json,
  { maxKeys: 3 },
);
const variants: Record<string, Record<string, Json>> = {
  plan: { entries: [] },
  usage_update: { used: 1, size: 2 },
  session_info_update: {},
  current_mode_update: { currentModeId: 'a' },
  config_option_update: { configOptions: [] },
  available_commands_update: { availableCommands: [] },
  tool_call_update: { toolCallId: 'nobody knows it' },
};

const notification = (params: Json, method = 'session/update') => JSON.stringify({ jsonrpc: '2.0', method, params });
const frame = (update: Json, sessionId = AGENT_SESSION) => notification({ sessionId, update });

const known = fc.tuple(fc.constantFrom(...Object.keys(variants)), fields).map(([tag, more]): GeneratedLine => {
  const payload = { ...more, ...variants[tag] };
  return { line: frame({ sessionUpdate: tag, ...payload }), event: raw(`session/update/${tag}`, payload) };
});
const unknown = fc
  .tuple(fc.constantFrom('made_up', '', 'toString', 'Plan', 'tool_call', 'agent_message_chunk'), fields)
  .filter(([, more]) => !('toolCallId' in more))
  .map(([tag, more]): GeneratedLine => {
    const line = frame({ sessionUpdate: tag, ...more });
    return { line, event: raw('session/update/undecodable', JSON.parse(line) as Json) };
  });
const unmapped = fc.tuple(fc.constantFrom('plan_update', 'notice'), fields).map(([tag, more]): GeneratedLine => {
  const update = { sessionUpdate: tag, ...more };
  return { line: frame(update), event: raw('session/update/unrecognised', { sessionId: AGENT_SESSION, update }) };
});
const foreign = fc.tuple(fc.constantFrom('', 'agent-2', 'AGENT-1'), json).map(([sessionId, update]): GeneratedLine => {
  return { line: frame(update, sessionId), event: raw('session/update/foreign', { sessionId, update }) };
});
const other = fc.tuple(fc.string(), json).map(([method, params]): GeneratedLine => {
  return { line: notification(params, `_${method}`), event: raw(`notification/_${method}`, params) };
});
const noFrame = fc
  .oneof(
    fc.string({ minLength: 8 }).map((text) => text.replaceAll('\n', ' ').replaceAll(/^ +/g, 'x')),
    json
      .filter((value) => typeof value !== 'object' || Array.isArray(value))
      .map((value) => `[${JSON.stringify(value)}]`),
  )
  .map((text): GeneratedLine => ({ line: text, event: raw('undecodable', { text: Buffer.from(text).toString() }) }));
const noText = fc.uint8Array({ minLength: 1 }).map((bytes): GeneratedLine => {
  const line = Buffer.concat([Buffer.from([0xff]), bytes.map((byte) => (byte === 0x0a ? 0 : byte))]);
  return { line, event: raw('undecodable', { base64: line.toString('base64') }) };
});
const said = fc.tuple(fc.string(), fields).map(([text, beside]): GeneratedLine => {
  const line = frame({ ...beside, sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  return { line, text, ...(Object.keys(beside).length > 0 ? { beside } : {}) };
});

/** Lines of every kind: updates with any members, other notifications, and what is no frame. */
export const generatedLines = fc.array(fc.oneof(known, unknown, unmapped, foreign, other, noFrame, noText, said), {
  minLength: 60,
  maxLength: 120,
});

/** What the log must hold of them: an event each in their order, and one message with all that was said. */
export function expectedOf(lines: readonly GeneratedLine[]): { events: Told[]; text: string; meta: Json[] } {
  return {
    events: lines.flatMap(({ event }) => event ?? []),
    text: lines.map(({ text = '' }) => text).join(''),
    meta: lines.flatMap(({ beside }) => (beside === undefined ? [] : [beside])),
  };
}
