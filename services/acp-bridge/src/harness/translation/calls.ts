import type { ContentBlock, HarnessEvent, Json } from '@jetloop/contracts';
import { isObject, textField, type JsonObject } from './frame.js';
import { raw, type OpenCall, type Piece, type Step, type Translation } from './translation.js';

/** A call that the agent runs itself: recorded as it is told, with its result when it is told as over (spec 6.2). */
export function toolCall(state: Translation, update: JsonObject, callId: string, now: number, value: Json): Step {
  // An agent that tells an open call again only says more about it.
  if (state.calls.has(callId)) return toolUpdate(state, 'tool_call', update, callId, now, value);
  const { turn, step, nextCall: n } = state;
  const input = update['rawInput'] ?? null;
  const called: HarnessEvent = {
    type: 'tool.call',
    data: {
      ...{ turn, step, n, callId },
      name: textField(update, 'title'),
      arguments: JSON.stringify(input),
      effective: isObject(input) ? input : null,
      decision: 'allow',
    },
  };
  const calls = new Map(state.calls).set(callId, { n, startedAt: now });
  const begun = { ...state, calls, nextCall: n + 1 };
  const rest = toolUpdate(begun, 'tool_call', update, callId, now, value);
  return { state: rest.state, pieces: [called, ...rest.pieces] };
}

/** News of a call: its result only where it is over, and always the frame itself. */
export function toolUpdate(
  state: Translation,
  tag: 'tool_call' | 'tool_call_update',
  update: JsonObject,
  callId: string,
  now: number,
  value: Json,
): Step {
  const kept = raw(`session/update/${tag}`, value);
  const known = state.calls.get(callId);
  if (!known) return { state, pieces: [kept] };
  const call = withNews(known, update);
  const calls = new Map(state.calls);
  const { status } = update;
  if (status !== 'completed' && status !== 'failed') {
    calls.set(callId, call);
    return { state: { ...state, calls }, pieces: [kept] };
  }
  calls.delete(callId);
  const pieces: Piece[] = [resultOf(state, callId, call, status === 'failed', now), kept];
  return { state: { ...state, calls }, pieces };
}

/** Fields of an update that are there replace what was told before. */
function withNews(call: OpenCall, { rawOutput = null, content = null }: JsonObject): OpenCall {
  return { ...call, ...(rawOutput === null ? {} : { rawOutput }), ...(content === null ? {} : { content }) };
}

function resultOf(state: Translation, callId: string, call: OpenCall, isError: boolean, now: number): HarnessEvent {
  const { turn, step } = state;
  const output = call.rawOutput ?? call.content ?? null;
  return {
    type: 'tool.result',
    data: {
      ...{ turn, step, n: call.n, callId },
      content: textOf(output),
      output,
      isError,
      ...(isError ? { error: { name: 'Harness', code: 'tool_failed' } } : {}),
      durationMs: Math.max(0, now - call.startedAt),
    },
  };
}

/** Output as text: a text itself, else what the texts of a content array say, else its JSON. */
function textOf(output: Json): ContentBlock[] {
  if (output === null) return [];
  const texts = Array.isArray(output) ? output.flatMap(textOfItem) : [];
  const text = typeof output === 'string' ? output : texts.length > 0 ? texts.join('\n') : JSON.stringify(output);
  return [{ type: 'text', text }];
}

function textOfItem(item: Json): string[] {
  const content = isObject(item) && item['type'] === 'content' ? item['content'] : undefined;
  return isObject(content) && typeof content['text'] === 'string' ? [content['text']] : [];
}
