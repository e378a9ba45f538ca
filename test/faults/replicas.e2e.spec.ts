import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isWhole, startNatsCluster, type ModelScript } from '@jetloop/testing';
import { gate, type Gate } from '../e2e/support/gate.js';
import { spoken } from '../e2e/support/messages.js';
import { ProcessSystem } from './support/process-system.js';
import { expectWhole, racePrompts, raceReplies } from './support/races.js';
import { callsTool } from './support/tool-turns.js';

jest.setTimeout(240_000);

/** A thousand rounds, or a part of them. */
const SESSIONS = isWhole ? 50 : 3;
const ROUNDS = 20;

const models: Record<string, ModelScript> = {
  talks: () => ({ text: 'yes' }),
  works: callsTool('list_dir', {}, { times: 4 }),
};

async function startReplicas(system: ProcessSystem, env = {}) {
  const [left, right] = await Promise.all([
    system.spawn('loop-orchestrator', env),
    system.spawn('loop-orchestrator', env),
    system.spawn('llm-router'),
    system.spawn('tool-runner'),
  ]);
  return { left, right };
}

/** Every steer stands once in what its session's model was told last. */
function expectToldOnce(system: ProcessSystem, steers: ReadonlyMap<string, readonly string[]>): void {
  for (const [session, texts] of steers) {
    const last = system.provider.requests('works').findLast((request) => spoken(request).includes(`user: ${session}`));
    const told = spoken(last).join('\n');
    expect(texts.map((text) => told.split(text).length - 1)).toEqual(texts.map(() => 1));
  }
}

describe('two replicas of the orchestrator on one server', () => {
  let system: ProcessSystem;
  beforeAll(async () => {
    system = await ProcessSystem.start({ models });
    await startReplicas(system);
  });
  afterAll(() => system.stop());

  it(`L37 two prompts of one session at the same instant and a steer, ${SESSIONS * ROUNDS} times: nothing lost, nothing double`, async () => {
    await racePrompts(system, 'talks', { sessions: SESSIONS, rounds: ROUNDS });
  });

  it('L37 a steer racing every reply of model and tools: each is told once, nothing is lost', async () => {
    expectToldOnce(system, await raceReplies(system, 'works', { sessions: isWhole ? 20 : 4, rounds: 12 }));
  });
});

describe('a replica whose kept state is behind', () => {
  let system: ProcessSystem;
  let waits: Gate;
  beforeAll(async () => {
    waits = gate();
    system = await ProcessSystem.start({ models: { waits: () => ({ text: 'yes', after: waits.opened }) } });
  });
  afterAll(() => system.stop());

  it('L37 a stale cache on one side: it decides again, whether it would have taken or refused', async () => {
    // With one slot, a frozen process holds one command at most; the other one gets it a second later.
    const { left, right } = await startReplicas(system, { JETLOOP_SLOTS: '1' });
    const { client, provider } = system;
    const turnOf = (session: string, messageId: string, from = 0) =>
      client.turnOf(session, messageId, { from, signal: AbortSignal.timeout(30_000) });
    const agent = system.agent('waits');
    // Of one of them the left one hears when it wakes: by the command that it held.
    const busy = ['was-busy-1', 'was-busy-2', 'was-busy-3'];
    const ids = [...busy, 'was-open', 'was-new'];

    // The left one alone begins the turns, and keeps that they wait for their model.
    right.freeze();
    const first = await Promise.all(ids.map((session) => client.create({ session, agent, prompt: 'one' })));
    while (provider.requests('waits').length < ids.length) await new Promise((resolve) => setTimeout(resolve, 20));

    // The right one alone ends them, and goes on.
    left.freeze();
    right.thaw();
    waits.open();
    await Promise.all(first.map(({ session, messageId }) => turnOf(session, messageId)));
    const two = await client.prompt('was-new', 'two', { messageId: 'two' });
    await turnOf('was-new', 'two', two.sequence);
    await client.closeSession('was-open');

    // To the left one the first turns are still open.
    right.freeze();
    left.thaw();
    const refused = Promise.allSettled([
      client.prompt('was-new', 'not two', { messageId: 'two' }),
      client.prompt('was-open', 'too late'),
      client.cancel('was-open'),
    ]);
    const taken = await Promise.all([
      ...busy.map((session) => client.prompt(session, 'two', { whenBusy: 'reject' })),
      client.prompt('was-new', 'three'),
    ]);
    expect(await client.prompt('was-new', 'two', { messageId: 'two' })).toEqual(two);
    const codes = ['conflict', 'closed', 'closed'];
    expect(await refused).toMatchObject(codes.map((code) => ({ reason: { code } })));
    await Promise.all(taken.map(({ session, messageId, sequence }) => turnOf(session, messageId, sequence)));

    right.thaw();
    for (const session of busy) await expectWhole(system, session, 2);
    await expectWhole(system, 'was-new', 3);
    await expectWhole(system, 'was-open', 1);
  });
});

describe('two replicas of the orchestrator on three servers', () => {
  let system: ProcessSystem;
  let cluster: Awaited<ReturnType<typeof startNatsCluster>>;
  beforeAll(async () => {
    cluster = await startNatsCluster();
    system = await ProcessSystem.start({ models, natsUrl: cluster.natsUrl, replicas: 3 });
    await startReplicas(system);
  });
  afterAll(async () => {
    await system.stop();
    await cluster.stop();
  });

  it('L37 the same on a cluster, where a read may be stale', async () => {
    await racePrompts(system, 'talks', { sessions: isWhole ? 10 : 2, rounds: ROUNDS });
    expectToldOnce(system, await raceReplies(system, 'works', { sessions: isWhole ? 5 : 3, rounds: 12 }));
  });
});
