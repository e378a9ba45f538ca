import type { Json } from '@jetloop/contracts';

/** The session of the scripted agent. */
export const AGENT_SESSION = 'agent-1';

/** A line with an update of that session, or of another one. */
export function update(tag: string, fields: Record<string, Json> = {}, sessionId = AGENT_SESSION): string {
  return notification('session/update', { sessionId, update: { sessionUpdate: tag, ...fields } });
}

export function chunk(tag: string, text: string, more: Record<string, Json> = {}): string {
  return update(tag, { content: { type: 'text', text }, ...more });
}

export function notification(method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

/** An event as the log has it, without what every event has. */
export interface Told {
  readonly type: string;
  readonly data: unknown;
}

export const raw = (source: string, value: Json): Told => ({ type: 'harness.raw', data: { source, value } });

/** A message of the agent. `more`: what differs from one that ended as usual. */
export function said(content: Json[], more: Record<string, Json> = {}): Told {
  const rest = { finishReason: 'stop', model: null, usage: null, cost: null, attempts: [] };
  return { type: 'assistant.message', data: { turn: 1, step: 1, content, ...rest, ...more } };
}

/** What the agent repeats of the person. */
export function echoed(text: string): Told {
  const content = [{ type: 'text', text }];
  return { type: 'user.message', data: { turn: 1, content, source: { kind: 'harness', name: 'acp' } } };
}

export function called(n: number, callId: string, name: string, input: Json = null): Told {
  const effective = typeof input === 'object' && !Array.isArray(input) ? input : null;
  const data = { turn: 1, step: 1, n, callId, name, arguments: JSON.stringify(input), effective, decision: 'allow' };
  return { type: 'tool.call', data };
}

/** The result of a call; its duration counts as 0. */
export function result(n: number, callId: string, output: Json, text: string | undefined, isError = false): Told {
  const error = isError ? { error: { name: 'Harness', code: 'tool_failed' } } : {};
  const content = text === undefined ? [] : [{ type: 'text', text }];
  return {
    type: 'tool.result',
    data: { turn: 1, step: 1, n, callId, content, output, isError, ...error, durationMs: 0 },
  };
}

/** The result that a call gets whose agent did not tell any. */
export function interrupted(n: number, callId: string): Told {
  const text = 'This call was interrupted: the agent ended before it told what came of it.';
  const error = { name: 'Interrupted', code: 'interrupted' };
  const content = [{ type: 'text', text }];
  return { type: 'tool.result', data: { turn: 1, step: 1, n, callId, content, isError: true, error, durationMs: 0 } };
}

/** Events as they are compared: durations are no two times the same. */
export function told(events: readonly { readonly type: string; readonly data: unknown }[]): Told[] {
  return events.map(({ type, data }) => {
    const isResult = type === 'tool.result';
    return { type, data: isResult ? { ...(data as object), durationMs: 0 } : data };
  });
}
