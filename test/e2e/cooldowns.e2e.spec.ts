import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chunksOf, FakeModels, type React, type Reaction } from './support/fake-models.js';
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

/** What a 429 says, and how many milliseconds pass before the second call: at least and at most. */
const hints: [string, () => Reaction, number, number][] = [
  ['3', () => limited('3'), 3_000, 4_500],
  ['1.5', () => limited('1.5'), 1_500, 3_000],
  ['a date', () => limited(inSeconds(3)), 1_900, 4_500],
  ['a past date', () => limited(inSeconds(-60)), 190, 1_700],
  ['abc', () => limited('abc'), 190, 1_700],
  ['700 ms', () => raw({ 'retry-after-ms': '700' }), 690, 2_200],
  ['5.5 s, in the body of Google', () => raw({}, retryInfo('5.5s')), 5_490, 8_000],
];

describe('cooldowns of targets, with two routers', () => {
  let models: FakeModels;
  let system: TestSystem;
  let replica: RouterReplica;
  const hinted = (index: number) => `hinted-${index}`;

  beforeAll(async () => {
    models = await FakeModels.start();
    const target = (model: string, more: object = {}) => ({
      provider: 'fake',
      dialect: 'chat' as const,
      model,
      baseUrl: models.url,
      retryCount: 2,
      cooldown: 200,
      jitterBackoff: 500,
      ...more,
    });
    const names = [...hints.keys()].map(hinted);
    const targets = {
      ...Object.fromEntries(names.map((name) => [name, target(name)])),
      limited: target('limited', { retryCount: 3, cooldown: 100, jitterBackoff: 50 }),
      far: target('far'),
      near: target('near'),
      crowded: target('crowded'),
      left: target('left', { retryCount: 0, cooldown: 5_000 }),
      right: target('right', { retryCount: 0, cooldown: 5_000 }),
      refused: target('refused'),
      narrow: target('narrow', { maxConcurrent: 1 }),
    };
    system = await TestSystem.start({ targets });
    replica = await RouterReplica.start(system, targets);
  });
  afterAll(async () => {
    await replica.stop();
    await system.stop();
    await models.stop();
  });

  const agent = (...chain: string[]) => system.create('limited', { model: { chain } });
  const timesOf = (model: string) => models.requests.filter((_, n) => models.calls[n] === model).map(({ at }) => at);
  const attemptsOf = async (session: TestSession) =>
    (await session.data('assistant.message')).flatMap(({ attempts }) => attempts);

  it('R19 always 429 and retryCount 3: four calls, four attempts', async () => {
    models.plan({ limited: [limited()] });
    const session = await agent('limited');
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
    models.plan(Object.fromEntries(hints.map(([, react], n) => [hinted(n), planOf(react)])));
    const sessions = await Promise.all(hints.map((_, n) => agent(hinted(n))));
    await Promise.all(sessions.map((session) => session.prompt('go')));
    for (const [n, [hint, , least, most]] of hints.entries()) {
      const [first = 0, second = 0] = timesOf(hinted(n));
      const waited = second - first;
      expect({ hint, waited: waited >= least && waited <= most ? 'as told' : waited }).toEqual({
        hint,
        waited: 'as told',
      });
      const attempts = await attemptsOf(sessions[n]!);
      expect(attempts.map(({ why, outcome }) => `${why} ${outcome}`)).toEqual(['primary error', 'retry ok']);
    }
    // More than 5 s is not waited out in the router: the session knows, and the attempts are kept.
    const deferred = await Promise.all(sessions.map(async (session) => (await session.data('work.deferred')).length));
    expect(deferred).toEqual(hints.map(([hint]) => (hint.startsWith('5.5') ? 1 : 0)));
  });

  it('R21 34.4 s in the body of Google is handed back with its attempt; 120 s leave the target at once', async () => {
    models.plan({ far: [raw({}, retryInfo('34.4s'))], near: [limited('120')], limited: [{ text: 'fallback' }] });
    const session = await agent('far');
    const sent = Date.now();
    await system.client.prompt(session.id, 'go');
    await session.until('work.deferred');
    const [deferral] = await session.data('work.deferred');
    const waitMs = Date.parse(deferral?.until ?? '') - sent;
    expect(waitMs).toBeGreaterThanOrEqual(34_400);
    expect(waitMs).toBeLessThan(37_000);
    expect(deferral).toMatchObject({ reason: 'rate_limited', attempts: [{ target: 'far', outcome: 'error' }] });
    await system.client.cancel(session.id);
    const left = await agent('near', 'limited');
    expect(await left.prompt('go')).toEqual({ kind: 'completed' });
    expect(models.calls).toEqual(['far', 'near', 'limited']);
  });

  it('R21 20 sessions that were told to wait wake spread out, behind one probe', async () => {
    const began = Date.now();
    const openAt = began + 1_500;
    let answered = 0;
    const react: React = () => {
      const left = openAt - Date.now();
      if (left > 0) return raw({ 'retry-after-ms': String(left) });
      return answered++ === 0 ? { headPauseMs: 50, chunks: chunksOf('open') } : { text: 'open' };
    };
    models.plan({ crowded: react });
    const sessions = await Promise.all(Array.from({ length: 20 }, () => agent('crowded')));
    const ends = await Promise.all(sessions.map((session) => session.prompt('go')));
    expect(new Set(ends.map(({ kind }) => kind))).toEqual(new Set(['completed']));
    const woken = timesOf('crowded').filter((at) => at >= openAt);
    expect(woken).toHaveLength(20);
    const [probe = 0, ...others] = woken;
    expect(Math.max(...others) - probe).toBeGreaterThan(150);
    const busiest = Math.max(...others.map((at) => others.filter((other) => other >= at && other < at + 50).length));
    expect(busiest).toBeLessThan(15);
  });

  it('R22 two targets that rest 5 s: no early call, one probe a target, over on time; no time for it: all_targets_cooling', async () => {
    let openAt = Infinity;
    const react: React = (_, calls) => {
      if (calls === 0 || Date.now() < openAt) return limited('5');
      return calls === 1 ? { headPauseMs: 400, chunks: chunksOf('open') } : { text: 'open' };
    };
    models.plan({ left: react, right: react });
    const first = await agent('left', 'right');
    // Without retries: the rest of both is waited for as that of any other session.
    const firstEnd = first.prompt('go');
    const [told = 0] = await models.seen(2);
    openAt = told + 5_000;
    const hasty = await system.create('limited', {
      model: { chain: ['left', 'right'] },
      deadlines: { llm: 1_000 },
    });
    expect(await hasty.prompt('go')).toMatchObject({ kind: 'error', code: 'all_targets_cooling' });
    const [error] = await hasty.data('turn.error');
    expect(error?.attempts).toMatchObject([
      { target: 'left', outcome: 'skipped' },
      { target: 'right', outcome: 'skipped' },
    ]);
    const sessions = await Promise.all(Array.from({ length: 6 }, () => agent('left', 'right')));
    const ends = await Promise.all(sessions.map((session) => session.prompt('go')));
    expect(new Set(ends.map(({ kind }) => kind))).toEqual(new Set(['completed']));
    await firstEnd;
    for (const model of ['left', 'right']) {
      const [told = 0, probe = 0, ...later] = timesOf(model);
      expect(probe - told).toBeGreaterThanOrEqual(5_000);
      expect(probe - told).toBeLessThan(7_500);
      // Nobody else calls until the probe has its 2xx, 400 ms later.
      expect(later.filter((at) => at < probe + 390)).toEqual([]);
    }
    expect(Date.now() - openAt).toBeLessThan(4_000);
  });

  it('R20 400, 401 and 404 get one call each, then the next target; a refused key rests', async () => {
    for (const status of [400, 404, 401]) {
      models.plan({ refused: [{ status }], limited: [{ text: 'yes' }] });
      const session = await agent('refused', 'limited');
      expect(await session.prompt('go')).toEqual({ kind: 'completed' });
      expect(models.calls).toEqual(['refused', 'limited']);
    }
    models.plan({ refused: [{ text: 'no' }], limited: [{ text: 'yes' }] });
    const session = await agent('refused', 'limited');
    await session.prompt('go');
    expect(models.calls).toEqual(['limited']);
    const alone = await agent('refused');
    expect(await alone.prompt('go')).toMatchObject({ kind: 'error', code: 'all_targets_cooling' });
  });

  it('a target that takes one call at once gets one at once; the others come back later', async () => {
    models.plan({ narrow: [{ chunks: [{ pauseMs: 300 }, ...chunksOf('one at a time')] }] });
    const sessions = await Promise.all(Array.from({ length: 4 }, () => agent('narrow')));
    const ends = await Promise.all(sessions.map((session) => session.prompt('go')));
    expect(new Set(ends.map(({ kind }) => kind))).toEqual(new Set(['completed']));
    const deferrals = await Promise.all(sessions.map((session) => session.data('work.deferred')));
    // Two routers, one call each.
    expect(deferrals.flat().length).toBeGreaterThanOrEqual(2);
    expect(new Set(deferrals.flat().map(({ reason }) => reason))).toEqual(new Set(['target_limit']));
  });
});
