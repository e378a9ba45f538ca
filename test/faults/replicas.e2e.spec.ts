import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startNatsCluster } from '@jetloop/testing';
import { ProcessSystem } from './support/process-system.js';
import { logOf, problemsOf } from './support/session-log.js';

jest.setTimeout(240_000);

const targets = {
  talks: {
    provider: 'scripted',
    dialect: 'scripted' as const,
    model: 'scripted',
    script: [{ reply: { text: 'yes' } }],
  },
};

/** Rounds of two prompts at one instant and a steer that races the replies. */
async function race(system: ProcessSystem, { sessions, rounds }: { sessions: number; rounds: number }): Promise<void> {
  const { client } = system;
  const one = async (session: string): Promise<void> => {
    await client.create({ session, agent: system.agent('talks') });
    for (let round = 0; round < rounds; round++) {
      const [a, b, steer] = await Promise.all([
        client.prompt(session, `a${round}`, { messageId: `a${round}` }),
        client.prompt(session, `b${round}`, { messageId: `b${round}` }),
        client.steer(session, `s${round}`, { messageId: `s${round}` }),
      ]);
      const from = Math.min(a.sequence, b.sequence, steer.sequence);
      const signal = AbortSignal.timeout(60_000);
      await Promise.all([a, b, steer].map(({ messageId }) => client.turnOf(session, messageId, { from, signal })));
    }
  };
  const ids = Array.from({ length: sessions }, (_, index) => `race-${index}`);
  await Promise.all(ids.map(one));
  for (const session of ids) {
    const log = await logOf(client, session);
    expect({ session, problems: problemsOf(log) }).toEqual({ session, problems: [] });
    expect(log.filter(({ type }) => type === 'message.queued')).toHaveLength(3 * rounds);
    expect(
      log.filter(
        ({ type, data }) => type === 'turn.end' && (data as { reason: { kind: string } }).reason.kind !== 'completed',
      ),
    ).toEqual([]);
  }
}

async function startReplicas(system: ProcessSystem) {
  await system.spawn('llm-router');
  return Promise.all([system.spawn('loop-orchestrator'), system.spawn('loop-orchestrator')]);
}

describe('two replicas of the orchestrator on one server', () => {
  let system: ProcessSystem;
  beforeAll(async () => {
    system = await ProcessSystem.start({ targets });
    await startReplicas(system);
  });
  afterAll(() => system.stop());

  it('L37 two prompts of one session at the same instant and a steer racing every reply, 1,000 times: nothing lost, nothing double', async () => {
    await race(system, { sessions: 50, rounds: 20 });
  });
});

describe('two replicas of the orchestrator on three servers', () => {
  let system: ProcessSystem;
  let cluster: Awaited<ReturnType<typeof startNatsCluster>>;
  beforeAll(async () => {
    cluster = await startNatsCluster();
    system = await ProcessSystem.start({ targets, natsUrl: cluster.natsUrl, replicas: 3 });
    await startReplicas(system);
  });
  afterAll(async () => {
    await system.stop();
    await cluster.stop();
  });

  it('L37 the same on a cluster, where a read may be stale', async () => {
    await race(system, { sessions: 20, rounds: 10 });
  });
});
