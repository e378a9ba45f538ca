import { describe, expect, it } from '@jest/globals';
import { MemoryCooldowns } from './memory-cooldowns.fixture.spec.js';
import { answer, fail, run, type Outcome } from './route-driver.fixture.spec.js';

const outcomes = ({ routed }: Outcome) =>
  routed.attempts.map(({ target, why, outcome }) => `${target} ${why} ${outcome}`);
const resting = (target: string, until: number, code = 'rate_limited', isProbed = false) => {
  const cooldowns = new MemoryCooldowns();
  cooldowns.set(target, { until, code, isProbed });
  return cooldowns;
};

describe('a target that rests', () => {
  it('is passed over, and why is among the attempts', async () => {
    const outcome = await run({ answers: { a: [answer('a')], b: [answer('b')] }, cooldowns: resting('a', 3_000) });
    expect(outcome.calls).toEqual(['b']);
    expect(outcomes(outcome)).toEqual(['a primary skipped', 'b fallback ok']);
    expect(outcome.routed.attempts[0]?.error).toMatchObject({ code: 'all_targets_cooling' });
    expect(outcome.waits).toEqual([]);
  });

  it('is waited for when nothing else answers, and then probed', async () => {
    const cooldowns = resting('a', 3_000);
    const outcome = await run({ answers: { a: [answer('a')], b: [fail('server_error')] }, cooldowns });
    expect(outcome.calls).toEqual(['b', 'a']);
    expect(outcome.waits).toEqual([3_000, 250]);
    expect(cooldowns.probes).toEqual(['a']);
    expect(cooldowns.rests.size).toBe(0);
  });

  it('of two the earlier one is waited for', async () => {
    const cooldowns = resting('a', 4_000);
    cooldowns.set('b', { until: 2_000, code: 'rate_limited', isProbed: false });
    const outcome = await run({ answers: { a: [answer('a')], b: [answer('b')] }, cooldowns });
    expect(outcome.calls).toEqual(['b']);
    expect(outcome.waits).toEqual([2_000, 250]);
  });

  it('for longer than a wait is handed back', async () => {
    const outcome = await run({ answers: { a: [answer('a')] }, cooldowns: resting('a', 20_000) });
    expect(outcome.routed).toMatchObject({ kind: 'deferred', waitMs: 20_250, reason: 'rate_limited' });
  });

  it.each([
    ['longer than its maxRetryAfter', resting('a', 61_000), 600_000],
    ['longer than the command has', resting('a', 3_000), 2_000],
    ['for a refused key', resting('a', 3_000, 'auth'), 600_000],
  ])('%s is not waited for: all_targets_cooling, and when the first is back', async (_why, cooldowns, patienceMs) => {
    const outcome = await run({ answers: { a: [answer('a')] }, cooldowns, patienceMs });
    expect(outcome.calls).toEqual([]);
    const earliestAt = new Date(cooldowns.rests.get('a')?.until ?? 0).toISOString();
    expect(outcome.routed).toMatchObject({ kind: 'error', error: { code: 'all_targets_cooling', earliestAt } });
  });

  it('hides no error of another target', async () => {
    const cooldowns = resting('a', 3_000, 'auth');
    const outcome = await run({ answers: { a: [answer('a')], b: [fail('server_error')] }, cooldowns });
    expect(outcome.routed).toMatchObject({ kind: 'error', error: { code: 'server_error', target: 'b' } });
  });

  it('with fallback false is waited for, and nothing else is tried', async () => {
    const answers = { a: [answer('a')], b: [answer('b')] };
    const outcome = await run({ answers, cooldowns: resting('a', 1_000), fallback: false });
    expect(outcome.calls).toEqual(['a']);
  });

  it('that somebody else probes is waited for as long as a wait may be, then handed back', async () => {
    const outcome = await run({ answers: { a: [answer('a')] }, cooldowns: resting('a', 9_000, 'rate_limited', true) });
    expect(outcome.waits).toEqual([5_000]);
    expect(outcome.routed).toMatchObject({ kind: 'deferred', waitMs: 4_250 });
  });
});

describe('what lets a target rest', () => {
  it('a 429 for its cooldown: its own retry is passed over too, and comes when the rest is over', async () => {
    const answers = { a: [fail('rate_limited'), answer('a')], b: [fail('server_error')] };
    const outcome = await run({ answers, target: { retryCount: 1, cooldown: 2_000 } });
    expect(outcome.calls).toEqual(['a', 'b', 'a']);
    expect(outcome.waits).toEqual([2_000, 250]);
    expect(outcomes(outcome)).toEqual(['a primary error', 'b fallback error', 'a retry ok']);
  });

  it('R19: a 429 for ever ends after retryCount + 1 calls, each after its rest', async () => {
    const outcome = await run({ answers: { a: [fail('rate_limited')] }, target: { retryCount: 3, cooldown: 1_000 } });
    expect(outcome.calls).toHaveLength(4);
    expect(outcome.routed.attempts).toHaveLength(4);
    expect(outcome.waits.filter((milliseconds) => milliseconds === 1_000)).toHaveLength(3);
    expect(outcome.routed).toMatchObject({ kind: 'error', error: { code: 'rate_limited' } });
  });

  it('a 429 with a hint is waited for in its place, as long as the hint says', async () => {
    const answers = { a: [fail('rate_limited', { retryAfterMs: 3_000 }), answer('a')], b: [answer('b')] };
    const outcome = await run({ answers, target: { retryCount: 1 } });
    expect(outcome.calls).toEqual(['a', 'a']);
    expect(outcome.waits).toEqual([3_250]);
  });

  it('503 only with a hint; 401 for a minute, and the next target follows', async () => {
    const cooldowns = new MemoryCooldowns();
    const answers = {
      a: [fail('overloaded')],
      b: [fail('overloaded', { retryAfterMs: 2_000 })],
      c: [fail('auth', { status: 401 })],
      d: [fail('auth')],
    };
    const outcome = await run({ answers, cooldowns });
    expect(outcome.calls).toEqual(['a', 'b', 'c', 'd']);
    expect([...cooldowns.rests].map(([name, { until }]) => [name, until])).toEqual([
      ['b', 2_000],
      ['c', 60_000],
    ]);
  });
});

describe('a limit of calls at once', () => {
  it('hands back what is over it', async () => {
    const slots = { enter: () => undefined };
    const outcome = await run({ answers: { a: [answer('a')] }, slots });
    expect(outcome.calls).toEqual([]);
    expect(outcome.routed).toMatchObject({ kind: 'deferred', waitMs: 1_000, reason: 'target_limit' });
  });
});

describe('an object', () => {
  const findMisfit = (value: unknown) => (Array.isArray(value) ? undefined : 'it must be array');

  it('is one json block', async () => {
    const outcome = await run({ answers: { a: [answer(' [1, 2]\n')] }, findMisfit });
    expect(outcome.routed).toMatchObject({
      kind: 'answer',
      tried: { finish: 'stop', said: { content: [{ type: 'json', value: [1, 2] }] } },
    });
  });

  it('that is no JSON falls back; one that misses the schema is reported at once', async () => {
    const lost = await run({ answers: { a: [answer('[1, 2')], b: [answer('[1]')] }, findMisfit });
    expect(lost.calls).toEqual(['a', 'b']);
    expect(lost.routed.attempts[0]?.error).toMatchObject({ code: 'protocol' });
    const misfit = await run({ answers: { a: [answer('{}')], b: [answer('[1]')] }, findMisfit });
    expect(misfit.calls).toEqual(['a']);
    expect(misfit.routed).toMatchObject({ kind: 'error', error: { code: 'object_decode' } });
  });
});
