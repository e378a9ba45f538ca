import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { agentSpecSchema, subjects, type Commit, type RecordedEvent } from '@jetloop/contracts';
import { AgentStore, applyTopology, Bus, Journal } from '@jetloop/messaging';
import { testServers, type TestServers } from '@jetloop/testing';
import { JetloopClient } from '../index.js';

let servers: TestServers;
let bus: Bus;
let client: JetloopClient;
const agent = agentSpecSchema.parse({ name: 'coder', model: { chain: ['m'] } });

beforeAll(async () => {
  servers = await testServers();
  bus = await Bus.connect({ url: servers.natsUrl, name: 'pages-test' });
  await applyTopology(bus);
  client = await JetloopClient.connect({ natsUrl: servers.natsUrl, tenant: servers.tenant, actor: 'tester' });
});
afterAll(async () => {
  await client.close();
  await bus.close();
  await servers.stop();
});

async function begin(session: string, workspace: string, at: number, prompt?: string): Promise<void> {
  const created: RecordedEvent = {
    ...{ sequence: 0, version: 1, type: 'session.created' },
    data: { agent, source: 'startup', workspace },
  };
  const queued: RecordedEvent = {
    ...{ sequence: 1, version: 1, type: 'message.queued' },
    data: { messageId: 'm', lane: 'turn', content: [{ type: 'text', text: prompt ?? '' }], source: { kind: 'user' } },
  };
  const commit = (event: RecordedEvent): Commit => ({
    ...{ tenant: servers.tenant, session, causation: `c${event.sequence}`, actor: 'tester' },
    at: new Date(at + event.sequence).toISOString(),
    events: [event],
  });
  const journal = new Journal(bus);
  const position = await journal.commit(commit(created), 0);
  if (prompt !== undefined) await journal.commit(commit(queued), Number(position));
}

describe('sessionPage', () => {
  it('gives the sessions of a folder in pages, the newest first, none twice though others come between', async () => {
    for (const n of [1, 2, 3, 4, 5]) await begin(`a${n}`, '/projects/a', n * 1_000, `Task ${n}`);
    await begin('b1', '/projects/b', 9_000);
    const first = await client.sessionPage({ workspace: '/projects/a', limit: 2 });
    expect(first.sessions).toEqual([
      {
        ...{ session: 'a5', workspace: '/projects/a', agent: 'coder', firstPrompt: 'Task 5' },
        ...{ createdAt: new Date(5_000).toISOString(), updatedAt: new Date(5_001).toISOString() },
      },
      expect.objectContaining({ session: 'a4' }),
    ]);
    await begin('a6', '/projects/a', 6_000);
    const ids: string[] = [];
    for (let before = first.next; before !== undefined;) {
      const page = await client.sessionPage({ workspace: '/projects/a', limit: 2, before });
      ids.push(...page.sessions.map(({ session }) => session));
      before = page.next;
    }
    expect(ids).toEqual(['a3', 'a2', 'a1']);
    const all = await client.sessionPage();
    expect(all.next).toBeUndefined();
    expect(all.sessions.map(({ session }) => session)).toEqual(['a6', 'b1', 'a5', 'a4', 'a3', 'a2', 'a1']);
  });

  it('leaves out a session whose beginning is damaged, and shows the others', async () => {
    await bus.publisher.publish(subjects.log(servers.tenant, 'broken'), Buffer.from('no json'));
    await begin('c1', '/projects/c', 0);
    expect((await client.sessionPage({ workspace: '/projects/c' })).sessions).toMatchObject([
      { session: 'c1', firstPrompt: undefined },
    ]);
  });
});

it('gives the last sequence of a session, and the spec of an agent', async () => {
  await begin('d1', '/projects/d', 0, 'Hello');
  expect(await client.lastSequence('d1')).toBe(1);
  expect(await client.lastSequence('unknown')).toBeUndefined();
  expect(await client.agent('coder')).toBeUndefined();
  const store = await AgentStore.open(bus);
  await store.put(servers.tenant, agent);
  store.close();
  expect(await client.agent('coder')).toEqual(agent);
});

it('reads on from the journal behind more commits than are kept for a slow reader', async () => {
  const journal = new Journal(bus);
  const step = (sequence: number): Commit => ({
    ...{
      tenant: servers.tenant,
      session: 'slow',
      causation: `c${sequence}`,
      actor: 'tester',
      at: new Date(0).toISOString(),
    },
    events: [{ sequence, type: 'step.start', version: 1, data: { turn: 1, step: sequence } }],
  });
  let position = Number(await journal.commit(step(0), 0));
  const events = client.events('slow')[Symbol.asyncIterator]();
  expect((await events.next()).value).toMatchObject({ event: { sequence: 0 } });
  const waiting = events.next();
  for (let n = 1; n <= 200; n++) position = Number(await journal.commit(step(n), position));
  expect((await waiting).value).toMatchObject({ event: { sequence: 1 } });
  for (let n = 2; n <= 200; n++) expect((await events.next()).value).toMatchObject({ event: { sequence: n } });
  await events.return?.();
});
