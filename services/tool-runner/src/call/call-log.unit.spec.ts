import { describe, expect, it } from '@jest/globals';
import { agentSpecSchema, type SessionEvent, type UnknownEvent } from '@jetloop/contracts';
import { callLogFold, isTurnOver, standingOf } from './call-log.js';

const agent = agentSpecSchema.parse({ name: 'coder', tools: ['bash'] });
const created: SessionEvent = { type: 'session.created', data: { agent, source: 'startup', workspace: 'w' } };
const position = { turn: 1, step: 2, n: 0, callId: 'c' };
const call: SessionEvent = {
  type: 'tool.call',
  data: { ...position, name: 'bash', arguments: '{}', effective: {}, decision: 'allow' },
};
const result: SessionEvent = { type: 'tool.result', data: { ...position, content: [], isError: false, durationMs: 1 } };
const cancelling: SessionEvent = { type: 'turn.cancelling', data: { turn: 1, reason: 'cancelled', by: 'me' } };
const end: SessionEvent = { type: 'turn.end', data: { turn: 1, reason: { kind: 'completed' } } };

function logOf(...events: (SessionEvent | UnknownEvent)[]) {
  const log = callLogFold.initial();
  events.forEach((event, sequence) => {
    callLogFold.apply(log, { version: 1, ...event, sequence });
  });
  return log;
}

describe('the log as a tool call sees it', () => {
  it('knows the tools of the agent', () => {
    expect(logOf().tools).toEqual([]);
    expect(logOf(created).tools).toEqual(['bash']);
  });

  it.each([
    ['open once it is recorded', [created, call], 'open'],
    ['settled before it is recorded', [created], 'settled'],
    ['settled by its result', [call, result], 'settled'],
    ['open beside the result of another', [call, { ...result, data: { ...result.data, n: 1 } }], 'open'],
    ['cancelling when its turn is', [call, cancelling], 'cancelling'],
    ['open when another turn was cancelled', [{ ...cancelling, data: { ...cancelling.data, turn: 7 } }, call], 'open'],
    ['settled by the end of its turn', [call, end], 'settled'],
  ] as [string, SessionEvent[], string][])('a call is %s', (_name, events, standing) => {
    expect(standingOf(logOf(...events), position)).toBe(standing);
  });

  it('tells of a turn whether it is over', () => {
    expect([logOf(call), logOf(cancelling), logOf(end)].map((log) => isTurnOver(log, 1))).toEqual([false, true, true]);
    expect(isTurnOver(logOf(end), 2)).toBe(false);
  });

  it('reads nothing into events of an unknown version', () => {
    const unknown: UnknownEvent = { type: 'turn.end', sequence: 0, version: 99, data: { turn: 1 } };
    expect(isTurnOver(logOf(call, unknown), 1)).toBe(false);
  });
});
