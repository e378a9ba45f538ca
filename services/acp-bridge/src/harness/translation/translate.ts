import type { FinishReason, HarnessEvent, Json } from '@jetloop/contracts';
import { toolCall, toolUpdate } from './calls.js';
import { readChunk } from './chunk.js';
import { isObject, textField, writable, type Frame, type JsonObject, type Received } from './frame.js';
import { addChunk, closeMessages } from './messages.js';
import { raw, stamped, type Step, type Stream, type Translated, type Translation } from './translation.js';
import { readTag, type MappedTag } from './updates.js';

const streams: Partial<Record<MappedTag, Stream>> = {
  agent_message_chunk: 'agent',
  agent_thought_chunk: 'thought',
  user_message_chunk: 'user',
};

/**
 * What a line of the agent's output becomes in the log, and what of it is shown live (spec 6.2). Answers and requests are
 * the conversation's business (`conversation.ts`); here they are kept as what they are. Nothing is ever dropped.
 * @param now milliseconds since the epoch
 */
export function translate(
  state: Translation,
  frame: Frame,
  now: number,
): { readonly state: Translation; readonly translated: Translated[] } {
  const step = state.answered ? late(state, frame) : translateFrame(state, frame, now);
  return stamped(step);
}

function translateFrame(state: Translation, frame: Frame, now: number): Step {
  switch (frame.kind) {
    case 'undecodable':
      return { state, pieces: [raw('undecodable', frame.value)] };
    case 'response':
      return { state, pieces: [raw('response/unexpected', writable(frame.message, frame))] };
    case 'request':
      return { state, pieces: [raw(`request/${frame.method}`, writable(frame.message, frame))] };
    case 'notification':
      return frame.method === 'session/update' ? sessionUpdate(state, frame, now) : notification(state, frame);
  }
}

function notification(state: Translation, frame: Extract<Frame, { kind: 'notification' }>): Step {
  const value = writable(frame.message['params'] ?? null, frame);
  return { state, pieces: [raw(`notification/${frame.method}`, value), ...beside(frame)] };
}

function sessionUpdate(state: Translation, frame: Received, now: number): Step {
  const { params } = frame.message;
  const update = isObject(params) ? params['update'] : undefined;
  const undecodable = { state, pieces: [raw('session/update/undecodable', writable(frame.message, frame))] };
  const whole = (source: string) => ({
    state,
    pieces: [raw(source, writable(params ?? null, frame)), ...beside(frame)],
  });
  if (!isObject(params) || typeof params['sessionId'] !== 'string') return undecodable;
  if (params['sessionId'] !== state.agentSession) return whole('session/update/foreign');
  if (!isObject(update)) return undecodable;
  const tag = readTag(update);
  if (tag === 'undecodable') return undecodable;
  if (tag === 'unrecognised') return whole('session/update/unrecognised');
  const stream = streams[tag];
  if (stream === undefined) {
    const step = payload(state, tag, update, frame, now);
    return { ...step, pieces: [...step.pieces, ...besideParams(params, frame), ...beside(frame)] };
  }
  const chunk = readChunk(params, update, frame);
  if (!chunk) return undecodable;
  const step = addChunk(state, stream, chunk);
  return { ...step, pieces: [...step.pieces, ...beside(frame)] };
}

/** An update that is no chunk: what it is for the log, then the payload without its tag. */
function payload(state: Translation, tag: MappedTag, update: JsonObject, frame: Received, now: number): Step {
  const { sessionUpdate: _tag, ...fields } = update;
  const value = writable(fields, frame);
  const readable = frame.flaw === undefined ? update : inexact(update, frame);
  const callId = textField(update, 'toolCallId');
  if (tag === 'tool_call') return toolCall(state, readable, callId, now, value);
  if (tag === 'tool_call_update') return toolUpdate(state, tag, readable, callId, now, value);
  return { state, pieces: [raw(`session/update/${tag}`, value)] };
}

/** Fields beside session and update belong to no payload: kept by themselves. */
function besideParams(params: JsonObject, frame: Received): HarnessEvent[] {
  const { sessionId: _session, update: _update, ...rest } = params;
  return Object.keys(rest).length === 0 ? [] : [raw('session/update/params', writable(rest, frame))];
}

/** Members of a notification or request beside those of JSON-RPC belong to none of its events: kept by themselves. */
function beside(frame: Received): HarnessEvent[] {
  const { jsonrpc = '2.0', id: _id, method: _method, params: _params, ...more } = frame.message;
  const members = { ...more, ...(jsonrpc === '2.0' ? {} : { jsonrpc }) };
  return Object.keys(members).length === 0 ? [] : [raw('frame/members', writable(members, frame))];
}

/** What our side of the conversation adds to the log: an answer that came, an ask, a decision, a refusal. `frame`: what it is of. */
export function record(
  state: Translation,
  source: string,
  value: Json,
  frame?: Received,
): { readonly state: Translation; readonly translated: Translated[] } {
  return stamped({
    state,
    pieces: [raw(state.answered ? `late/${source}` : source, value), ...(frame ? beside(frame) : [])],
  });
}

/** The answer to the prompt: open messages end, then it stands in the log verbatim. */
export function answer(state: Translation, frame: Received, finishReason: FinishReason) {
  const closed = closeMessages(state, finishReason);
  const kept = raw('session/prompt', writable(frame.message, frame));
  return stamped({ state: { ...closed.state, answered: true }, pieces: [...closed.pieces, kept] });
}

/** The end of an attempt without an answer: open messages end with what had come. */
export function breakOff(state: Translation) {
  const closed = closeMessages(state, 'aborted');
  return stamped({ state: { ...closed.state, answered: true }, pieces: closed.pieces });
}

/** After the answer: every frame is kept under the name that it would have had. */
function late(state: Translation, frame: Frame): Step {
  return { state, pieces: [raw(`late/${lateSource(frame)}`, lateValue(frame))] };
}

function lateSource(frame: Frame): string {
  switch (frame.kind) {
    case 'undecodable':
      return 'undecodable';
    case 'response':
      return 'response/unexpected';
    case 'request':
      return frame.method;
    case 'notification': {
      const { params } = frame.message;
      const update = isObject(params) ? params['update'] : undefined;
      const tag = isObject(update) ? readTag(update) : 'undecodable';
      return frame.method === 'session/update' ? `session/update/${tag}` : `notification/${frame.method}`;
    }
  }
}

function lateValue(frame: Frame): Json {
  return frame.kind === 'undecodable' ? frame.value : writable(frame.message, frame);
}

/** Input and output of a call that JSON cannot write back: the line takes their place. */
function inexact(update: JsonObject, frame: Received): JsonObject {
  const replaced = ['rawInput', 'rawOutput', 'content'].filter((field) => (update[field] ?? null) !== null);
  return { ...update, ...Object.fromEntries(replaced.map((field) => [field, writable(null, frame)])) };
}
