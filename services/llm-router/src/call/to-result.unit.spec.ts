import { describe, expect, it } from '@jest/globals';
import type { Attempt, ContentBlock } from '@jetloop/contracts';
import type { Assembled } from '../adapter/assemble.js';
import { toResult } from './to-result.js';

const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1 };
const model = { target: 'a', provider: 'test', model: 'm' };
const aborted = { code: 'aborted' as const, message: 'aborted', retryable: false };

function attempt(more: Partial<Attempt>): Attempt {
  return { attemptId: 'x', target: 'a', why: 'primary', outcome: 'error', durationMs: 1, ...more };
}

function said(...content: ContentBlock[]): Assembled {
  return { content, usage, model, end: undefined };
}

describe('toResult', () => {
  it('gives the usage of the answering attempt and the cost of all, deferred ones too', () => {
    const tried = {
      ok: true as const,
      said: said(),
      finish: 'stop' as const,
      usage,
      attempt: attempt({ outcome: 'ok' }),
    };
    const attempts = [attempt({ usage, cost: 0.5 }), attempt({ outcome: 'ok', usage, cost: 0.25 })];
    const result = toResult({ kind: 'answer', tried, attempts }, [attempt({ usage, cost: 1 })], 0);
    expect(result).toMatchObject({ status: 'ok', usage, cost: 1.75, attempts });
  });

  it('keeps the reason that the provider gave, not more than its first 100 characters', () => {
    const answered = { ...said(), rawFinish: 'x'.repeat(101) };
    const tried = { ok: true as const, said: answered, finish: 'stop' as const, usage, attempt: attempt({}) };
    const result = toResult({ kind: 'answer', tried, attempts: [] }, [], 0);
    expect(result).toMatchObject({ finishReason: 'stop', rawFinishReason: 'x'.repeat(100) });
  });

  it('does not call a cost 0 that nobody knows', () => {
    const attempts = [attempt({ usage, cost: null }), attempt({ usage, cost: 0.25 })];
    const error = { code: 'overloaded' as const, message: 'no', retryable: true };
    expect(toResult({ kind: 'error', error, attempts }, [], 0)).toMatchObject({ status: 'error', cost: null });
  });

  it('an attempt that used nothing costs nothing', () => {
    const error = { code: 'overloaded' as const, message: 'no', retryable: true };
    expect(toResult({ kind: 'error', error, attempts: [attempt({})] }, [], 0)).toMatchObject({ cost: 0 });
  });

  it('keeps the words of an aborted answer, never half a call or the state of half a thought', () => {
    const state = { dialect: 'chat', model: 'm', value: 'signature' };
    const partial = said(
      { type: 'reasoning', text: 'hm', state },
      { type: 'text', text: 'so far' },
      { type: 'tool-call', id: 'c', name: 't', arguments: '{"a' },
    );
    const tried = {
      ok: false as const,
      said: partial,
      error: aborted,
      attempt: attempt({ outcome: 'aborted', usage }),
    };
    expect(toResult({ kind: 'error', error: aborted, tried, attempts: [tried.attempt] }, [], 0)).toMatchObject({
      status: 'error',
      error: { code: 'aborted' },
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'so far' },
      ],
      model,
      usage,
    });
  });

  it('keeps nothing of an answer that failed', () => {
    const error = { code: 'network' as const, message: 'cut', retryable: true };
    const tried = {
      ok: false as const,
      said: said({ type: 'text', text: 'half' }),
      error,
      attempt: attempt({ error }),
    };
    expect(toResult({ kind: 'error', error, tried, attempts: [tried.attempt] }, [], 0)).not.toHaveProperty('content');
  });

  it('says until when a deferred call waits', () => {
    const routed = {
      kind: 'deferred' as const,
      waitMs: 34_400,
      reason: 'rate_limited' as const,
      attempts: [attempt({})],
    };
    expect(toResult(routed, [], Date.parse('2026-01-01T00:00:00Z'))).toEqual({
      status: 'deferred',
      deferred: { until: '2026-01-01T00:00:34.400Z', reason: 'rate_limited', attempts: [attempt({})] },
    });
  });
});
