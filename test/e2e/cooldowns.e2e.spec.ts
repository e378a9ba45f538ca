import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CatalogueInput } from '@jetloop/llm-router';
import { CooldownStore } from '@jetloop/messaging';
import { FakeModels, type React, type Reaction } from './support/fake-models.js';
import { DIALECTS } from './support/provider-system.js';
import { RouterReplica } from './support/router-replica.js';
import type { TestSession } from './support/test-session.js';
import { TestSystem } from './support/test-system.js';

const limited = (after?: string): Reaction => ({ status: 429, ...(after === undefined ? {} : { after }) });
const raw = (headers: Record<string, string>, body: unknown = { error: { message: 'slow down' } }): Reaction => ({
  status: 429,
  headers,
  body: JSON.stringify(body),
});
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000).toUTCString();
const retryInfo = (retryDelay: string) => ({
  error: {
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: 'quota',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }],
  },
});

interface Hint {
  /** What a 429 says. */
  readonly react: () => Reaction;
  /** The wait that is read from it, in milliseconds: from, to; undefined: none that can be read. */
  readonly read?: readonly [number, number];
  /** Milliseconds that the second call waits at least. */
  readonly least: number;
}
const hints: Readonly<Record<string, Hint>> = {
  '3': { react: () => limited('3'), read: [3_000, 3_000], least: 3_000 },
  '1.5': { react: () => limited('1.5'), read: [1_500, 1_500], least: 1_500 },
  'a date': { react: () => limited(inSeconds(4)), read: [1, 4_000], least: 2_900 },
  'a past date': { react: () => limited(inSeconds(-60)), least: 190 },
  abc: { react: () => limited('abc'), least: 190 },
  '700 ms': { react: () => raw({ 'retry-after-ms': '700' }), read: [700, 700], least: 690 },
  '5.5 s in the body of Google': { react: () => raw({}, retryInfo('5.5s')), read: [5_500, 5_500], least: 5_490 },
};
const HINTED = DIALECTS.flatMap((dialect) =>
  Object.entries(hints).map(([hint, given], n) => ({ ...given, hint, model: `${dialect}-hinted-${n}` })),
);

describe('cooldowns of targets, with two routers', () => {
  let models: FakeModels;
  let system: TestSystem;
  let replica: RouterReplica;
  let rests: CooldownStore;

  beforeAll(async () => {
    models = await FakeModels.start();
    const targets: CatalogueInput['targets'] = {};
    for (const dialect of DIALECTS) {
      const add = (model: string, more: Partial<CatalogueInput['targets'][string]> = {}) => {
        const name = `${dialect}-${model}`;
        const target = { provider: 'fake', dialect, model: name, baseUrl: models.url, retryCount: 2 };
        targets[name] = { ...target, cooldown: 200, jitterBackoff: 500, ...more };
      };
      for (const n of Object.keys(hints).keys()) add(`hinted-${n}`);
      for (const model of ['far', 'near', 'absurd', 'refused']) add(model);
      add('crowded', { jitterBackoff: 2_000 });
      add('limited', { retryCount: 3, cooldown: 100, jitterBackoff: 50 });
      add('left', { retryCount: 0, cooldown: 5_000 });
      add('right', { retryCount: 0, cooldown: 5_000 });
      add('narrow', { maxConcurrent: 1 });
    }
    system = await TestSystem.start({ targets });
    replica = await RouterReplica.start(system, targets);
    rests = await CooldownStore.open(system.bus);
  });
  afterAll(async () => {
    rests.close();
    await replica.stop();
    await system.stop();
    await models.stop();
  });

  const agent = (...chain: string[]) => system.create(chain[0] ?? '', { model: { chain } });
  const timesOf = (model: string) => models.requests.filter((_, n) => models.calls[n] === model).map(({ at }) => at);
  const attemptsOf = async (session: TestSession) =>
    (await session.data('assistant.message')).flatMap(({ attempts }) => attempts);

  it.each(DIALECTS)('R19 always 429 and retryCount 3: four calls, four attempts: %s', async (dialect) => {
    models.plan({ [`${dialect}-limited`]: [limited()] });
    const session = await agent(`${dialect}-limited`);
    expect(await session.prompt('go')).toMatchObject({ kind: 'error', code: 'rate_limited' });
    expect(models.calls).toHaveLength(4);
    const [error] = await session.data('turn.error');
    expect(error?.attempts?.map(({ why, outcome }) => `${why} ${outcome}`)).toEqual([
      'primary error',
      'retry error',
      'retry error',
      'retry error',
    ]);
  });

  it('R21 waits at least as long as the provider says, and backs off where it says nothing that can be read', async () => {
    // A date counts from when it is said, not from when it was planned.
    const planOf =
      (react: () => Reaction): React =>
      (_, calls) =>
        calls === 0 ? react() : { text: 'now' };
    models.plan(Object.fromEntries(HINTED.map(({ model, react }) => [model, planOf(react)])));
    const sessions = await Promise.all(HINTED.map(({ model }) => agent(model)));
    await Promise.all(sessions.map((session) => session.prompt('go')));
    for (const [n, { hint, model, read, least }] of HINTED.entries()) {
      const [first = 0, second = 0] = timesOf(model);
      expect({ model, hint, waited: Math.min(second - first, least) }).toEqual({ model, hint, waited: least });
      const attempts = await attemptsOf(sessions[n]!);
      expect(attempts.map(({ why, outcome }) => `${why} ${outcome}`)).toEqual(['primary error', 'retry ok']);
      const { retryAfterMs } = attempts[0]?.error ?? {};
      const [from, to] = read ?? [];
      const isRead = retryAfterMs === undefined ? from === undefined : retryAfterMs >= from! && retryAfterMs <= to!;
      expect({ model, hint, isRead, retryAfterMs }).toEqual({ model, hint, isRead: true, retryAfterMs });
    }
    // More than 5 s is not waited out in the router: the session knows, and the attempts are kept.
    const deferred = await Promise.all(sessions.map(async (session) => (await session.data('work.deferred')).length));
    expect(deferred).toEqual(HINTED.map(({ hint }) => (hint.startsWith('5.5') ? 1 : 0)));
  });

  it.each(DIALECTS)(
    'R21 34.4 s in the body is handed back with its attempt; 120 s leave the target at once: %s',
    async (dialect) => {
      const [far, near, other] = [`${dialect}-far`, `${dialect}-near`, `${dialect}-limited`];
      const absurd = `${dialect}-absurd`;
      models.plan({ [far]: [raw({}, retryInfo('34.4s'))], [near]: [limited('120')], [other]: [{ text: 'fallback' }] });
      const session = await agent(far);
      const sent = Date.now();
      await system.client.prompt(session.id, 'go');
      await session.until('work.deferred');
      const [deferral] = await session.data('work.deferred');
      expect(Date.parse(deferral?.until ?? '') - sent).toBeGreaterThanOrEqual(34_400);
      expect(deferral).toMatchObject({
        reason: 'rate_limited',
        attempts: [{ target: far, outcome: 'error', error: { retryAfterMs: 34_400 } }],
      });
      await system.client.cancel(session.id);
      const left = await agent(near, other);
      expect(await left.prompt('go')).toEqual({ kind: 'completed' });
      expect(models.calls).toEqual([far, near, other]);
      // More than any date can hold: the target is left, and rests, as for any long wait.
      models.plan({ [absurd]: [limited('8700000000000')], [other]: [{ text: 'fallback' }] });
      for (let n = 0; n < 2; n++)
        expect(await (await agent(absurd, other)).prompt('go')).toEqual({ kind: 'completed' });
      expect(models.calls).toEqual([absurd, other, other]);
    },
  );

  it('R21 20 sessions that were told to wait wake spread out, behind one probe', async () => {
    let openAt: number | undefined;
    let answered = 0;
    const react: React = () => {
      openAt ??= Date.now() + 1_500;
      const left = openAt - Date.now();
      if (left > 0) return raw({ 'retry-after-ms': String(left) });
      return answered++ === 0 ? { headPauseMs: 50, text: 'open' } : { text: 'open' };
    };
    models.plan({ 'chat-crowded': react });
    const sessions = await Promise.all(Array.from({ length: 20 }, () => agent('chat-crowded')));
    const ends = await Promise.all(sessions.map((session) => session.prompt('go')));
    expect(new Set(ends.map(({ kind }) => kind))).toEqual(new Set(['completed']));
    const woken = timesOf('chat-crowded').filter((at) => at >= (openAt ?? Infinity));
    expect(woken).toHaveLength(20);
    const [probe = 0, ...others] = woken;
    expect(Math.max(...others) - probe).toBeGreaterThan(150);
    // Two seconds to spread over: more than a machine that stalls takes away.
    expect(Math.max(...others) - Math.min(...others)).toBeGreaterThan(400);
  });

  it('R22 two targets that rest 5 s: no early call, one probe a target, over on time; no time for it: all_targets_cooling', async () => {
    const openAt = new Map<string, number>();
    const react =
      (pair: string): React =>
      (_, calls) => {
        if (calls === 0 || Date.now() < (openAt.get(pair) ?? Infinity)) return limited('5');
        return calls === 1 ? { headPauseMs: 400, text: 'open' } : { text: 'open' };
      };
    const pairs = [
      ['chat-left', 'chat-right'],
      ['anthropic-left', 'google-right'],
    ] as const;
    models.plan(Object.fromEntries(pairs.flatMap((pair) => pair.map((model) => [model, react(pair[0])]))));
    const asked: TestSession[] = [];
    const rest = async ([left, right]: (typeof pairs)[number]) => {
      const first = await agent(left, right);
      // Without retries: the rest of both is waited for as that of any other session.
      const firstEnd = first.prompt('go');
      // Both rest where every router reads it, not only where they were called.
      while (![left, right].every((target) => rests.find(target)))
        await new Promise((resolve) => setTimeout(resolve, 5));
      const [told = 0] = timesOf(left);
      openAt.set(left, told + 5_000);
      const hasty = await system.create(left, { model: { chain: [left, right] }, deadlines: { llm: 2_500 } });
      expect(await hasty.prompt('go')).toMatchObject({ kind: 'error', code: 'all_targets_cooling' });
      const [error] = await hasty.data('turn.error');
      expect(error?.attempts).toMatchObject([
        { target: left, outcome: 'skipped' },
        { target: right, outcome: 'skipped' },
      ]);
      const sessions = await Promise.all(Array.from({ length: 6 }, () => agent(left, right)));
      const ends = await Promise.all(sessions.map((session) => session.prompt('go')));
      expect(new Set(ends.map(({ kind }) => kind))).toEqual(new Set(['completed']));
      await firstEnd;
      asked.push(first, hasty, ...sessions);
      for (const model of [left, right]) {
        const [at = 0, probe = 0, ...later] = timesOf(model);
        expect(probe - at).toBeGreaterThanOrEqual(5_000);
        // A rest that only ends with the time of a lost probe would be twice as long.
        expect(probe - at).toBeLessThan(10_000);
        // Nobody else calls until the probe has its 2xx, 400 ms later.
        expect(later.filter((time) => time < probe + 390)).toEqual([]);
        expect(Math.max(...later) - probe).toBeLessThan(10_000);
      }
    };
    await Promise.all(pairs.map(rest));
    // What one replica was told the other one knew: calls of both are among them.
    const called = (await Promise.all(asked.map(attemptsOf))).flat().filter(({ outcome }) => outcome !== 'skipped');
    expect(new Set(called.map(({ attemptId }) => replica.made.has(attemptId)))).toEqual(new Set([true, false]));
  });

  it.each(DIALECTS)(
    'R20 400, 401 and 404 get one call each, then the next target; a refused key rests: %s',
    async (dialect) => {
      const [refused, other] = [`${dialect}-refused`, `${dialect}-limited`];
      for (const status of [400, 404, 401]) {
        models.plan({ [refused]: [{ status }], [other]: [{ text: 'yes' }] });
        const session = await agent(refused, other);
        expect(await session.prompt('go')).toEqual({ kind: 'completed' });
        expect(models.calls).toEqual([refused, other]);
      }
      models.plan({ [refused]: [{ text: 'no' }], [other]: [{ text: 'yes' }] });
      const session = await agent(refused, other);
      await session.prompt('go');
      expect(models.calls).toEqual([other]);
      const alone = await agent(refused);
      expect(await alone.prompt('go')).toMatchObject({ kind: 'error', code: 'all_targets_cooling' });
      // R23: without fallback another target is none for one that rests either.
      const model = { chain: [refused, other], fallback: false };
      const bound = await system.create(refused, { model });
      expect(await bound.prompt('go')).toMatchObject({ kind: 'error', code: 'all_targets_cooling' });
      expect(models.calls).toEqual([other]);
    },
  );

  it('a target that takes one call at once gets one at once; the others come back later', async () => {
    models.plan({ 'chat-narrow': [{ headPauseMs: 300, text: 'one at a time' }] });
    const sessions = await Promise.all(Array.from({ length: 4 }, () => agent('chat-narrow')));
    const ends = await Promise.all(sessions.map((session) => session.prompt('go')));
    expect(new Set(ends.map(({ kind }) => kind))).toEqual(new Set(['completed']));
    const deferrals = await Promise.all(sessions.map((session) => session.data('work.deferred')));
    // Two routers, one call each.
    expect(deferrals.flat().length).toBeGreaterThanOrEqual(2);
    expect(new Set(deferrals.flat().map(({ reason }) => reason))).toEqual(new Set(['target_limit']));
  });
});
