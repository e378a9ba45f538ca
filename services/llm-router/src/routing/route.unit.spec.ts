import { describe, expect, it } from '@jest/globals';
import type { Attempt, LlmError } from '@jetloop/contracts';
import type { Adapter } from '../adapter/adapter.js';
import type { Part } from '../adapter/part.js';
import {
  answer,
  fail,
  FakeProvider,
  optionsFor,
  run,
  spoken,
  type Answer,
  type Outcome,
} from './route-driver.fixture.spec.js';
import { route } from './route.js';

const outcomes = ({ routed }: Outcome) =>
  routed.attempts.map(({ target, why, outcome }) => `${target} ${why} ${outcome}`);
const errorOf = ({ routed }: Outcome) => (routed.kind === 'error' ? routed.error : undefined);
const textOf = ({ routed }: Outcome) => (routed.kind === 'answer' ? routed.tried.said.content : undefined);

describe('a repair', () => {
  const refused: Answer = [
    {
      kind: 'error',
      error: { code: 'bad_request', message: 'bad signature', retryable: false },
      aboutReasoningState: true,
    },
  ];

  it('sends the same once more without reasoning state, beside the retries', async () => {
    const outcome = await run({
      answers: { a: [refused, fail('overloaded'), answer('yes')] },
      target: { retryCount: 1 },
    });
    expect(outcomes(outcome)).toEqual(['a primary error', 'a repair error', 'a retry ok']);
    expect(outcome.withoutState).toEqual([false, true, true]);
  });

  it('is made once a target, and a deferral does not forget it', async () => {
    const outcome = await run({ answers: { a: [refused], b: [refused, answer('b')] } });
    expect(outcomes(outcome)).toEqual(['a primary error', 'a repair error', 'b fallback error', 'b repair ok']);
    const earlier: Attempt[] = (['primary', 'repair'] as const).map((why, n) => ({
      attemptId: `work.1.${n}`,
      target: 'a',
      why,
      outcome: 'error',
      error: { code: 'rate_limited', message: 'slow', retryable: true },
      durationMs: 1,
    }));
    const later = await run({ answers: { a: [refused] }, earlier, target: { retryCount: 2 } });
    expect(later.calls).toEqual(['a']);
    expect(later.withoutState).toEqual([true]);
  });
});

describe('fallback', () => {
  it('takes the first that answers', async () => {
    const outcome = await run({ answers: { a: [answer('from a')], b: [answer('from b')] } });
    expect(outcome.calls).toEqual(['a']);
    expect(textOf(outcome)).toEqual([{ type: 'text', text: 'from a' }]);
    expect(outcomes(outcome)).toEqual(['a primary ok']);
    expect(outcome.routed.attempts[0]?.attemptId).toBe('work.1.0');
  });

  it('R4: goes on after a 503 and after a 400 alike', async () => {
    const outcome = await run({ answers: { a: [fail('overloaded')], b: [fail('bad_request')], c: [answer('c')] } });
    expect(outcome.calls).toEqual(['a', 'b', 'c']);
    expect(outcomes(outcome)).toEqual(['a primary error', 'b fallback error', 'c fallback ok']);
  });

  it('R5: reports the last error in order, with its target', async () => {
    const outcome = await run({ answers: { a: [fail('overloaded')], b: [fail('bad_request')] } });
    expect(errorOf(outcome)).toMatchObject({ code: 'bad_request', target: 'b' });
    expect(outcome.routed.attempts).toHaveLength(2);
  });

  it('R23: with fallback false only the first is tried', async () => {
    const outcome = await run({ answers: { a: [fail('server_error')], b: [answer('b')] }, fallback: false });
    expect(outcome.calls).toEqual(['a']);
    expect(errorOf(outcome)).toMatchObject({ code: 'server_error' });
  });

  it('skips a name that the catalogue does not know, and lets it hide no error', async () => {
    const found = await run({ answers: { b: [answer('b')] }, order: ['gone', 'b'] });
    expect(outcomes(found)).toEqual(['gone sticky skipped', 'b fallback ok']);
    const failed = await run({ answers: { a: [fail('auth')] }, order: ['a', 'gone'] });
    expect(errorOf(failed)).toMatchObject({ code: 'auth', target: 'a' });
    const none = await run({ answers: {}, order: ['gone'] });
    expect(errorOf(none)).toMatchObject({ code: 'no_targets', target: 'gone' });
  });

  it('an empty chain is no_targets', async () => {
    expect(errorOf(await run({ answers: {} }))).toMatchObject({ code: 'no_targets' });
  });

  it('R10: a gated target is never called, and counts as an error in its place', async () => {
    const facts = { images: [], thinking: true, tokens: 1, afterToolRound: false };
    const outcome = await run({ answers: { a: [answer('a')] }, facts });
    expect(outcome.calls).toEqual([]);
    expect(errorOf(outcome)).toMatchObject({ code: 'unsupported_capability', target: 'a' });
    expect(outcomes(outcome)).toEqual(['a primary skipped']);
  });

  it('takes a filtered answer for an answer', async () => {
    const outcome = await run({ answers: { a: [[{ kind: 'finish', reason: 'content-filter' }]], b: [answer('b')] } });
    expect(outcome.calls).toEqual(['a']);
    expect(outcome.routed).toMatchObject({ kind: 'answer', tried: { finish: 'content-filter' } });
  });

  it('R36: falls back on an empty answer, which after a tool round is an ordinary end', async () => {
    const empty: Answer = [{ kind: 'finish', reason: 'stop' }];
    expect((await run({ answers: { a: [empty], b: [answer('b')] } })).calls).toEqual(['a', 'b']);
    const facts = { images: [], thinking: false, tokens: 1, afterToolRound: true };
    const after = await run({ answers: { a: [empty], b: [answer('b')] }, facts });
    expect(after.calls).toEqual(['a']);
    expect(after.routed).toMatchObject({ kind: 'answer', tried: { finish: 'stop' } });
  });

  it('takes an adapter that throws for a failed attempt, and keeps its words out', async () => {
    const thrown: Adapter = {
      attempt: () => {
        throw new TypeError('the prompt was: secret');
      },
    };
    const outcome = await run({ answers: { a: [[]] } });
    expect(errorOf(outcome)).toMatchObject({ code: 'incomplete_stream' });
    const routed = await route({
      ...optionsFor('a'),
      adapters: { scripted: thrown, chat: thrown, anthropic: thrown, google: thrown },
    });
    expect(routed).toMatchObject({ kind: 'error', error: { code: 'protocol' } });
    expect(JSON.stringify(routed)).not.toContain('secret');
  });
});

describe('retry within a target', () => {
  it('R19: always 429 and retryCount 3 make 4 calls and 4 attempts', async () => {
    const outcome = await run({ answers: { a: [fail('rate_limited')] }, target: { retryCount: 3 } });
    expect(outcome.calls).toEqual(['a', 'a', 'a', 'a']);
    expect(outcomes(outcome)).toEqual(['a primary error', 'a retry error', 'a retry error', 'a retry error']);
    expect(outcome.waits).toEqual([250, 500, 1_000]);
    expect(outcome.routed.attempts.map(({ attemptId }) => attemptId)).toEqual([0, 1, 2, 3].map((n) => `work.1.${n}`));
  });

  it('R20: 400, 401 and 404 get one call', async () => {
    for (const code of ['bad_request', 'auth', 'model_not_found'] as const) {
      const outcome = await run({ answers: { a: [fail(code)], b: [answer('b')] }, target: { retryCount: 3 } });
      expect(outcome.calls).toEqual(['a', 'b']);
    }
  });

  it('ends as soon as the target answers', async () => {
    const answers = { a: [fail('overloaded'), fail('network'), answer('third')] };
    const outcome = await run({ answers, target: { retryCount: 5 } });
    expect(outcome.calls).toEqual(['a', 'a', 'a']);
    expect(textOf(outcome)).toEqual([{ type: 'text', text: 'third' }]);
  });

  it('R21: waits at least as long as the provider asks', async () => {
    const answers = { a: [fail('rate_limited', { retryAfterMs: 1_500 }), answer('a')] };
    expect((await run({ answers, target: { retryCount: 1 } })).waits).toEqual([1_750]);
  });

  it('R21: hands a wait of more than 5 s back, with its attempts', async () => {
    const answers = { a: [fail('rate_limited', { retryAfterMs: 34_400 })], b: [answer('b')] };
    const outcome = await run({ answers, target: { retryCount: 1 } });
    expect(outcome.calls).toEqual(['a']);
    expect(outcome.routed).toMatchObject({ kind: 'deferred', waitMs: 34_650, reason: 'rate_limited' });
    expect(outcomes(outcome)).toEqual(['a primary error']);
  });

  it('R21: leaves the target at once when the wait would be longer than maxRetryAfter', async () => {
    const answers = { a: [fail('rate_limited', { retryAfterMs: 120_000 })], b: [answer('b')] };
    const outcome = await run({ answers, target: { retryCount: 3 } });
    expect(outcome.calls).toEqual(['a', 'b']);
    expect(outcome.waits).toEqual([]);
  });

  it('gives every try what is left of requestTimeout, and stops when nothing is', async () => {
    const answers = { a: [fail('network', { retryAfterMs: 2_000 })] };
    const outcome = await run({ answers, target: { retryCount: 9, requestTimeout: 5_000, jitterBackoff: 0 } });
    expect(outcome.limits).toEqual([5_000, 3_000, 1_000]);
  });

  it('pauses before the first try of a throttled target', async () => {
    expect((await run({ answers: { a: [answer('a')] }, target: { throttleDelay: 300 } })).waits).toEqual([300]);
  });
});

describe('what earlier deliveries did', () => {
  const tried = (target: string, code: LlmError['code']): Attempt => ({
    attemptId: 'before',
    target,
    why: 'primary',
    outcome: 'error',
    error: { code, message: code, retryable: true, target },
    durationMs: 1,
  });

  it('a deferred job goes on where it was deferred, with its tries counted', async () => {
    const answers = { a: [answer('a')], b: [fail('rate_limited')], c: [answer('c')] };
    const earlier = [tried('a', 'auth'), tried('b', 'rate_limited')];
    const outcome = await run({ answers, earlier, target: { retryCount: 2 } });
    expect(outcome.calls).toEqual(['b', 'b', 'c']);
    expect(outcomes(outcome)).toEqual(['b retry error', 'b retry error', 'c fallback ok']);
  });

  it('R46: a lost delivery is a try with unknown outcome of the first target', async () => {
    const outcome = await run({ answers: { a: [answer('a')] }, delivery: 2, target: { retryCount: 2 } });
    expect(outcomes(outcome)).toEqual(['a primary unknown', 'a retry ok']);
    expect(outcome.routed.attempts.map(({ attemptId }) => attemptId)).toEqual(['work.1.0', 'work.2.0']);
  });

  it('a target whose tries were all lost is not called again', async () => {
    const answers = { a: [answer('a')], b: [answer('b')] };
    const outcome = await run({ answers, delivery: 4, target: { retryCount: 2 } });
    expect(outcome.calls).toEqual(['b']);
    const alone = await run({ answers: { a: [answer('a')] }, delivery: 4, target: { retryCount: 2 } });
    expect(errorOf(alone)).toMatchObject({ code: 'network', target: 'a' });
  });
});

describe('live', () => {
  it('R29: resets what a failed attempt had said, and ends only the one that stands', async () => {
    const cut: Answer = [spoken, { kind: 'error', error: { code: 'network', message: 'cut', retryable: true } }];
    const outcome = await run({ answers: { a: [cut], b: [answer('whole')] } });
    expect(outcome.said.filter((line) => /text|reset|end/.test(line))).toEqual([
      'work.1.0 text',
      'work.1.0 reset',
      'work.1.1 text',
      'work.1.1 end',
    ]);
    expect(textOf(outcome)).toEqual([{ type: 'text', text: 'whole' }]);
  });

  it('R29: a failure before the first word resets nothing', async () => {
    const early: Answer = [{ kind: 'lifecycle' }, ...(fail('overloaded') as Part[])];
    const outcome = await run({ answers: { a: [early], b: [answer('b')] } });
    expect(outcome.said).not.toContain('work.1.0 reset');
  });

  it('R30: hears nothing behind the first end', async () => {
    const late: Answer = [...(answer('a') as Part[]), spoken, { kind: 'finish', reason: 'stop' }];
    const outcome = await run({ answers: { a: [late] } });
    expect(textOf(outcome)).toEqual([{ type: 'text', text: 'a' }]);
  });
});

describe('abort', () => {
  it('R45: mid-stream keeps the partial text, estimates its usage, and tries nothing else', async () => {
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 5);
    const outcome = await run({ answers: { a: ['never'], b: [answer('b')] }, signal: controller.signal });
    expect(outcome.calls).toEqual(['a']);
    expect(outcome.routed).toMatchObject({
      kind: 'error',
      error: { code: 'aborted' },
      tried: { said: { content: [{ type: 'text', text: 'half an ans' }] } },
    });
    expect(outcome.routed.attempts).toMatchObject([
      { outcome: 'aborted', usage: { input: 40, output: 3, estimated: 'aborted' } },
    ]);
    expect(outcome.said.at(-1)).toBe('work.1.0 end');
  });

  it('R16, R45: before the call, or in a wait, makes no call and no attempt', async () => {
    const controller = new AbortController();
    controller.abort();
    const before = await run({ answers: { a: [answer('a')] }, signal: controller.signal });
    expect(before.calls).toEqual([]);
    expect(before.routed).toMatchObject({ kind: 'error', error: { code: 'aborted' }, attempts: [] });

    const waiting = new AbortController();
    const options = optionsFor('a', { retryCount: 3 });
    const fake = new FakeProvider({ a: [fail('overloaded')] });
    const routed = await route({
      ...options,
      adapters: { scripted: fake, chat: fake, anthropic: fake, google: fake },
      signal: waiting.signal,
      wait: () => {
        waiting.abort();
        return Promise.resolve();
      },
    });
    expect(fake.calls).toEqual(['a']);
    expect(routed).toMatchObject({ kind: 'error', error: { code: 'aborted' } });
    expect(routed.attempts).toHaveLength(1);
  });
});

describe('usage of an attempt', () => {
  it('is estimated, and says so, when the provider gave none', async () => {
    const silent: Answer = [
      { kind: 'text', text: 'twelve chars' },
      { kind: 'finish', reason: 'stop' },
    ];
    const outcome = await run({ answers: { a: [silent] }, target: { prices: { input: 1, output: 2 } } });
    const usage = { input: 40, cacheRead: 0, cacheWrite: 0, output: 3, estimated: 'missing' };
    expect(outcome.routed).toMatchObject({ kind: 'answer', tried: { usage } });
    expect(outcome.routed.attempts).toMatchObject([{ usage, cost: 46e-6 }]);
  });

  it('is absent when the attempt failed before it said anything', async () => {
    const outcome = await run({ answers: { a: [fail('overloaded')] } });
    expect(outcome.routed.attempts[0]).not.toHaveProperty('usage');
  });
});
