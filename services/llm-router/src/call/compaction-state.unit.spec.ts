import { describe, expect, it } from '@jest/globals';
import type { Attempt, RecordedEvent, SessionEvent } from '@jetloop/contracts';
import { compactionRange, compactionState } from './compaction-state.js';

const tried: Attempt = { attemptId: 'x', target: 'a', why: 'primary', outcome: 'error', durationMs: 1 };
const start = (from: number, to: number): SessionEvent => ({
  type: 'compaction.start',
  data: { turn: 1, range: { from, to } },
});
const end: SessionEvent = { type: 'compaction.end', data: { turn: 1 } };
const deferred = (attempt: number): SessionEvent => ({
  type: 'work.deferred',
  data: { what: 'compact', attempt, until: '2026-01-01T00:00:00Z', reason: 'rate_limited', attempts: [tried] },
});
const log = (...events: SessionEvent[]) =>
  events.map((event, sequence): RecordedEvent => ({ ...event, sequence, version: 1 }));
const command = { turn: 1, what: 'compact', attempt: 1, upTo: 2 };

describe('the model call of a compaction', () => {
  it('is open until its own compaction ends; an earlier one does not count', () => {
    const events = [start(0, 3), end, start(4, 9)];
    expect(compactionState(log(...events), command)).toEqual({ standing: 'open', earlier: [] });
    expect(compactionState(log(...events, end), command).standing).toBe('settled');
    expect(compactionRange(log(...events), 2)).toEqual({ from: 4, to: 9 });
    expect(compactionRange(log(...events), 1)).toEqual({ from: 0, to: 3 });
  });

  it('is settled by the end of the turn and by a later attempt, which sees what was tried', () => {
    const over: SessionEvent = { type: 'turn.end', data: { turn: 1, reason: { kind: 'completed' } } };
    const events = [end, end, start(0, 1)];
    expect(compactionState(log(...events, over), command).standing).toBe('settled');
    expect(compactionState(log(...events, deferred(1)), command).standing).toBe('settled');
    const later = compactionState(log(...events, deferred(1)), { ...command, attempt: 2 });
    expect(later).toEqual({ standing: 'open', earlier: [tried] });
  });

  it('is not waited for in a turn that is being cancelled', () => {
    const cancelling: SessionEvent = { type: 'turn.cancelling', data: { turn: 1, reason: 'cancelled', by: 'me' } };
    expect(compactionState(log(end, end, start(0, 1), cancelling), command).standing).toBe('cancelling');
  });

  it('has no range where no compaction had begun', () => {
    expect(compactionRange(log(end, end, end), 2)).toBeUndefined();
  });
});
