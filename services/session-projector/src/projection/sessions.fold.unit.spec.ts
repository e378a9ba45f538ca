import { describe, expect, it } from '@jest/globals';
import { JournalScript, created, scriptedSession, turnStart } from '../fixtures/journal-script.fixture.spec.js';
import { projected, rowsOf } from '../fixtures/projected.fixture.spec.js';
import { sessionsFold } from './sessions.fold.js';

const rowAfter = (journal: JournalScript, events = Infinity) =>
  rowsOf(sessionsFold, projected(journal).slice(0, events)).at(0)!;

describe('the row of a session', () => {
  it('counts turns, steps and tokens, and says that some price was unknown', () => {
    expect(rowAfter(scriptedSession())).toMatchObject({
      status: 'running',
      agent: 'helper',
      model: 'fast-1',
      workspace: '/srv/acme/s1',
      turns: 3,
      steps: 2,
      input_tokens: 300,
      cache_read_tokens: 40,
      cache_write_tokens: 5,
      output_tokens: 30,
      cost: 0.1,
      cost_complete: false,
      created_at: '2026-11-30T12:00:01.000Z',
      last_event_at: '2026-11-30T12:00:11.000Z',
      last_seq: 22,
    });
  });

  it.each([
    [1, 'idle', null, null],
    [3, 'running', null, null],
    [5, 'running', 'model', '2026-11-30T12:00:03.000Z'],
    [6, 'running', null, null],
    [7, 'running', 'tool', '2026-11-30T12:00:05.000Z'],
    [8, 'running', null, null],
    [16, 'idle', null, null],
  ])('after %d events it is %s and waits for %s since %s', (events, status, waiting_for, waiting_since) => {
    expect(rowAfter(scriptedSession(), events)).toMatchObject({ status, waiting_for, waiting_since });
  });

  const inTurn = (): JournalScript => {
    const journal = new JournalScript();
    journal.commit([created, turnStart(1, [])]);
    return journal;
  };
  const call = { turn: 1, step: 1, n: 0, callId: 'c1' };
  const asked = [
    { type: 'tool.call', data: { ...call, name: 'x', arguments: '{}', effective: {}, decision: 'ask' } },
    {
      type: 'approval.requested',
      data: { approvalId: 'p1', callId: 'c1', argumentsHash: 'h', expiresAt: '2026-12-01T00:00:00Z', question: '?' },
    },
  ] as const;

  it('waits for a person from the request to the decision, then for the tool', () => {
    const journal = inTurn();
    journal.commit(asked);
    journal.commit([{ type: 'step.end', data: { turn: 1, step: 9 } }]);
    const waitingRow = { status: 'waiting', waiting_for: 'approval', open_calls: 1, open_approvals: 1 };
    expect(rowAfter(journal)).toMatchObject({ ...waitingRow, waiting_since: '2026-11-30T12:00:02.000Z' });
    journal.commit([{ type: 'approval.decided', data: { approvalId: 'p1', outcome: 'approved', by: 'user:eve' } }]);
    expect(rowAfter(journal)).toMatchObject({ status: 'running', waiting_for: 'tool', open_approvals: 0 });
  });

  it('waits for work that asked for a later time', () => {
    const journal = inTurn();
    const until = '2026-11-30T13:00:00Z';
    journal.commit([
      { type: 'work.deferred', data: { what: 'llm', attempt: 1, until, reason: 'cooling', attempts: [] } },
    ]);
    expect(rowAfter(journal)).toMatchObject({ status: 'waiting', waiting_for: 'deferred' });
    journal.commit([{ type: 'turn.end', data: { turn: 1, reason: { kind: 'aborted', reason: 'cancelled' } } }]);
    expect(rowAfter(journal)).toMatchObject({ status: 'idle', waiting_for: null, waiting_since: null });
  });

  it('stays closed when the open turn ends afterwards, with nothing open', () => {
    const journal = inTurn();
    journal.commit(asked);
    journal.commit([{ type: 'session.closed', data: { reason: 'done' } }]);
    journal.commit([{ type: 'turn.end', data: { turn: 1, reason: { kind: 'closed' } } }]);
    expect(rowAfter(journal)).toMatchObject({ status: 'closed', waiting_for: null, open_calls: 0, open_approvals: 0 });
  });

  it('exists for a log without its first events, and takes in types that nobody knows', () => {
    const journal = new JournalScript();
    journal.commit([{ type: 'weather.changed', data: 1 }], { sequence: 40 });
    expect(rowAfter(journal)).toMatchObject({ agent: '', status: 'idle', last_seq: 40 });
  });
});
