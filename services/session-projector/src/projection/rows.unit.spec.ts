import { describe, expect, it } from '@jest/globals';
import { JournalScript, created, scriptedSession, turnStart } from '../fixtures/journal-script.fixture.spec.js';
import { projected, rowsOf } from '../fixtures/projected.fixture.spec.js';
import { messageRow } from './messages.rows.js';
import { modelAttemptRows } from './model-attempts.rows.js';
import { policyDecisionRow } from './policy-decisions.rows.js';
import { toolCallsFold } from './tool-calls.fold.js';
import { turnsFold } from './turns.fold.js';

const events = projected(scriptedSession());

describe('turns', () => {
  it('have their trigger, their end and what they used', () => {
    expect(rowsOf(turnsFold, events)).toMatchObject([
      {
        turn: 1,
        trigger: 'message',
        trigger_source: 'user',
        steps: 2,
        output_tokens: 30,
        cost: 0.1,
        end_reason: 'completed',
        end_detail: null,
      },
      { turn: 2, steps: 0, cost: 0, cost_complete: true, end_reason: 'rejected', end_detail: 'destructive' },
      { turn: 3, end_reason: null, ended_at: null },
    ]);
  });

  it('say the code and message of an error', () => {
    const journal = new JournalScript();
    const reason = { kind: 'error', step: 1, code: 'auth', message: 'key refused' } as const;
    journal.commit([created, turnStart(1, []), { type: 'turn.end', data: { turn: 1, reason } }]);
    expect(rowsOf(turnsFold, projected(journal))).toMatchObject([
      { end_reason: 'error', end_detail: 'auth: key refused' },
    ]);
  });
});

describe('messages', () => {
  const rows = events.map(messageRow).filter((row) => row !== undefined);

  it('are one row each, the blocked prompt with its reason', () => {
    expect(rows.map(({ role, text, reason }) => [role, text, reason])).toEqual([
      ['user', 'tidy up', null],
      ['assistant', 'I will look.', null],
      ['assistant', 'Nothing to do.', null],
      ['blocked', 'drop the tables', 'destructive'],
    ]);
  });

  it('name their source', () => {
    const journal = new JournalScript();
    const source = { kind: 'policy', name: 'style' } as const;
    journal.commit([
      created,
      { type: 'context.message', data: { turn: 1, content: [{ type: 'text', text: 'be brief' }], source } },
    ]);
    expect(projected(journal).map(messageRow).at(1)).toMatchObject({
      role: 'context',
      source_kind: 'policy',
      source_name: 'style',
    });
  });
});

describe('tool calls', () => {
  it('join call, decision and result', () => {
    expect(rowsOf(toolCallsFold, events)).toMatchObject([
      {
        n: 0,
        name: 'read',
        decision: 'allow',
        policy: null,
        is_error: true,
        error_code: 'not_found',
        result_text: 'no such file',
        duration_ms: 3,
        effect_id: 'acme.s1.1.1.0',
      },
      { n: 1, name: 'shell', decision: 'deny', policy: 'no-rm', reason: 'it deletes everything', error_code: 'denied' },
    ]);
  });

  it('make no row of a result without its call', () => {
    const results = events.filter(({ event }) => event.type === 'tool.result');
    expect(results).toHaveLength(2);
    expect(rowsOf(toolCallsFold, results)).toEqual([]);
  });

  it('take the reason from their own commit, since call ids are used again', () => {
    const journal = new JournalScript();
    const call = (step: number) =>
      ({
        type: 'tool.call',
        data: { turn: 1, step, n: 0, callId: 'c', name: 'x', arguments: '', effective: null, decision: 'allow' },
      }) as const;
    journal.commit([created]);
    journal.commit([
      call(1),
      { type: 'policy.decided', data: { seam: 'pre-tool', policy: 'p', decision: 'rewrite', callId: 'c' } },
    ]);
    journal.commit([call(2)]);
    expect(rowsOf(toolCallsFold, projected(journal)).map(({ policy }) => policy)).toEqual(['p', null]);
  });
});

describe('model attempts', () => {
  it('are one row each, with the model where it answered', () => {
    expect(events.flatMap(modelAttemptRows)).toMatchObject([
      {
        attempt_id: 'a1',
        target: 'fast',
        outcome: 'error',
        error_code: 'overloaded',
        model: null,
        input_tokens: null,
        duration_ms: 12.5,
      },
      {
        attempt_id: 'a2',
        target: 'big',
        why: 'fallback',
        model: 'big-1-0930',
        cost: 0.1,
        cache_read_tokens: 40,
        first_token_ms: 300,
      },
      { attempt_id: 'a3', turn: 1, step: 2, model: 'fast-1', cost: null, first_token_ms: null },
    ]);
  });
});

describe('policy decisions', () => {
  it('say what was denied and why', () => {
    expect(events.map(policyDecisionRow).filter((row) => row !== undefined)).toMatchObject([
      { turn: 1, seam: 'pre-tool', policy: 'no-rm', decision: 'deny', reason: 'it deletes everything', call_id: 'c2' },
      {
        turn: 2,
        seam: 'prompt-submit',
        policy: 'no-drops',
        decision: 'block',
        reason: 'destructive',
        message_id: 'm2',
      },
    ]);
  });
});
