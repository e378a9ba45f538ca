import { describe, expect, it } from '@jest/globals';
import type { Attempt, RecordedEvent, SessionEvent, UnknownEvent } from '@jetloop/contracts';
import { callState } from './call-state.js';

const command = { turn: 1, step: 2, what: 'llm', attempt: 1 };
const tried: Attempt = { attemptId: 'x', target: 'a', why: 'primary', outcome: 'error', durationMs: 1 };

function log(...events: SessionEvent[]): RecordedEvent[] {
  return events.map((event, sequence): RecordedEvent => ({ ...event, sequence, version: 1 }));
}

const step = (turn: number, number: number): SessionEvent => ({ type: 'step.start', data: { turn, step: number } });
const deferred = (attempt: number, what = 'llm'): SessionEvent => ({
  type: 'work.deferred',
  data: { what, attempt, until: '2026-01-01T00:00:00Z', reason: 'rate_limited', attempts: [tried] },
});
const answered = (turn: number, number: number): SessionEvent => ({
  type: 'assistant.message',
  data: { turn, step: number, content: [], finishReason: 'stop', model: null, usage: null, cost: null, attempts: [] },
});

describe('callState', () => {
  it('is open while the step waits for its answer', () => {
    expect(callState(log(step(1, 1), answered(1, 1), step(1, 2)), command)).toEqual({ standing: 'open', earlier: [] });
  });

  it('is settled by the answer of this step, and by the end of this turn', () => {
    expect(callState(log(step(1, 2), answered(1, 2)), command).standing).toBe('settled');
    const end: SessionEvent = { type: 'turn.end', data: { turn: 1, reason: { kind: 'completed' } } };
    expect(callState(log(step(1, 2), end), command).standing).toBe('settled');
    expect(callState(log(end), { ...command, turn: 2 }).standing).toBe('open');
  });

  it('is cancelling when only this turn is', () => {
    const cancelling: SessionEvent = { type: 'turn.cancelling', data: { turn: 1, reason: 'cancelled', by: 'me' } };
    expect(callState(log(step(1, 2), cancelling), command).standing).toBe('cancelling');
    expect(callState(log(cancelling), { ...command, turn: 2 }).standing).toBe('open');
  });

  it('is settled when a later attempt was sent, and open for that attempt, which sees what was tried before', () => {
    const events = log(step(1, 2), deferred(1));
    expect(callState(events, command).standing).toBe('settled');
    expect(callState(events, { ...command, attempt: 2 })).toEqual({ standing: 'open', earlier: [tried] });
  });

  it('forgets what was tried with a conversation that was too long: it is another one since', () => {
    const overflowed = deferred(1);
    if (overflowed.type === 'work.deferred') overflowed.data.reason = 'context_overflow';
    expect(callState(log(step(1, 2), overflowed), { ...command, attempt: 2 })).toEqual({
      standing: 'open',
      earlier: [],
    });
  });

  it('leaves deferrals of other steps and other work alone', () => {
    const events = log(step(1, 1), deferred(1), step(1, 2), deferred(1, 'tool.0'));
    expect(callState(events, command)).toEqual({ standing: 'open', earlier: [] });
  });

  it('reads nothing into events of an unknown version', () => {
    const unknown: UnknownEvent = { type: 'turn.end', sequence: 0, version: 99, data: { turn: 1 } };
    expect(callState([unknown], command).standing).toBe('open');
  });
});
