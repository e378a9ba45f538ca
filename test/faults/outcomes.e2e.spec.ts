import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { outcomeSchema, subjects, type Outcome } from '@jetloop/contracts';
import type { ModelScript, ServiceProcess } from '@jetloop/testing';
import { ProcessSystem } from './support/process-system.js';
import { logOf } from './support/session-log.js';
import { callsTool } from './support/tool-turns.js';

jest.setTimeout(60_000);

const models: Record<string, ModelScript> = {
  talks: () => ({ text: 'yes' }),
  slow: () => ({ text: 'at last', delayMs: 3_000 }),
  looks: callsTool('list_dir'),
};
const careful = {
  name: 'careful',
  tenants: ['*'],
  agents: ['looks'],
  policies: [
    { name: 'ask', order: 0, mode: 'enforce', seams: ['pre-tool'], when: {}, decide: { ask: { question: 'May it?' } } },
  ],
};

const prompt = (text: string, more = {}) => ({
  kind: 'prompt',
  messageId: randomUUID(),
  content: [{ type: 'text', text }],
  ...more,
});

describe('the answer to a command', () => {
  let system: ProcessSystem;
  let orchestrator: ServiceProcess;

  beforeAll(async () => {
    system = await ProcessSystem.start({ models });
    await system.putPolicies('careful', careful);
    [orchestrator] = await Promise.all([
      system.spawn('loop-orchestrator'),
      system.spawn('llm-router'),
      system.spawn('tool-runner'),
      system.spawn('hook-policy'),
    ]);
  });
  afterAll(() => system.stop());

  /** Sends a command as it is, without the client's own checks; resolves to the first outcome. */
  function send(session: string, command: Record<string, unknown>, times = 1): Promise<Outcome[]> {
    const { bus, tenant } = system;
    const full = { commandId: randomUUID(), actor: 'test', ...command };
    return new Promise((resolve, reject) => {
      const outcomes: Outcome[] = [];
      const late = setTimeout(() => {
        reject(new Error(`${outcomes.length} of ${times} outcomes for ${JSON.stringify(full).slice(0, 200)}`));
      }, 20_000);
      const subscription = bus.nats.subscribe(subjects.outcome(tenant, session, full.commandId), {
        callback: (_error, message) => {
          if (outcomes.push(outcomeSchema.parse(message.json())) < times) return;
          clearTimeout(late);
          subscription.unsubscribe();
          resolve(outcomes);
        },
      });
      const body = Buffer.from(JSON.stringify(full));
      for (let n = 0; n < times; n++) bus.publisher.publish(subjects.inbox(tenant, session), body).catch(reject);
    });
  }
  const create = (target: string, more = {}) => ({ kind: 'create', agent: system.agent(target), ...more });
  async function session(target: string): Promise<string> {
    const id = randomUUID();
    expect(await send(id, create(target))).toEqual([{ status: 'accepted', sequence: 0 }]);
    return id;
  }

  it('L44 invalid: a command that does not fit says what was expected', async () => {
    const id = await session('talks');
    expect(await send(id, { kind: 'dance' })).toMatchObject([{ code: 'invalid' }]);
    expect(await send(id, prompt('x', { content: [] }))).toMatchObject([
      { code: 'invalid', message: expect.stringContaining('at least one') },
    ]);
    expect(await send(randomUUID(), create('talks', { workspace: '/etc' }))).toMatchObject([{ code: 'invalid' }]);
    expect(await send(id, { kind: 'set-mode', mode: 'plan' })).toMatchObject([
      { code: 'invalid', message: expect.stringContaining('expected one of its modes') },
    ]);
    const beyond = { kind: 'fork', from: { session: id, sequence: 9_999 } };
    expect(await send(randomUUID(), beyond)).toMatchObject([
      { code: 'invalid', message: expect.stringContaining('expected one of them') },
    ]);
  });

  it('L44 not_found: no such session, no such agent', async () => {
    expect(await send(randomUUID(), prompt('hello'))).toMatchObject([{ code: 'not_found' }]);
    expect(await send(randomUUID(), { kind: 'create', agent: { name: 'nobody' } })).toMatchObject([
      { code: 'not_found' },
    ]);
  });

  it('L44 busy: a prompt that does not want to wait', async () => {
    const id = await session('slow');
    await send(id, prompt('one'));
    expect(await send(id, prompt('two', { whenBusy: 'reject' }))).toMatchObject([{ code: 'busy' }]);
  });

  it('L44 closed: whatever comes after the end', async () => {
    const id = await session('talks');
    expect(await send(id, { kind: 'close' })).toMatchObject([{ status: 'accepted' }]);
    expect(await send(id, prompt('late'))).toMatchObject([{ code: 'closed' }]);
  });

  it('L44 stale: an approval that was decided otherwise', async () => {
    const id = randomUUID();
    const agent = system.agent('looks', { tools: ['list_dir'] });
    await send(id, { kind: 'create', agent, workspace: system.folder });
    await send(id, prompt('look'));
    for await (const { event } of system.client.events(id)) if (event.type === 'approval.requested') break;
    const decide = (outcome: string) => send(id, { kind: 'approval.decide', approvalId: '1-1-0', outcome });
    const [first] = await decide('approved');
    expect(first).toMatchObject({ status: 'accepted' });
    expect(await decide('approved')).toEqual([first]);
    expect(await decide('rejected')).toMatchObject([{ code: 'stale', message: expect.stringContaining('approved') }]);
  });

  it('L44 too_large: content beyond what a commit can hold', async () => {
    const id = await session('talks');
    expect(await send(id, prompt('x'.repeat(800_000)))).toMatchObject([
      { code: 'too_large', message: expect.stringContaining('786432') },
    ]);
    expect((await logOf(system.client, id)).map(({ type }) => type)).toEqual(['session.created']);
  });

  it('L44 conflict: a message id with other content, a session that exists', async () => {
    const id = await session('talks');
    const messageId = randomUUID();
    const [accepted] = await send(id, prompt('one', { messageId }));
    expect(await send(id, prompt('one', { messageId }))).toEqual([accepted]);
    expect(await send(id, prompt('other', { messageId }))).toMatchObject([{ code: 'conflict' }]);
    expect(await send(id, create('talks'))).toMatchObject([{ code: 'conflict' }]);
  });

  it('L44 full: an inbox with more than a hundred commands refuses more, and says when to try again', async () => {
    const id = await session('talks');
    orchestrator.freeze();
    const sent = Array.from({ length: 150 }, (_, n) => send(id, prompt(`p${n}`)));
    for (const one of sent) one.catch(() => undefined); // awaited below
    await new Promise((resolve) => setTimeout(resolve, 500));
    orchestrator.thaw();
    const outcomes = (await Promise.all(sent)).flat();
    const full = outcomes.filter((outcome) => outcome.status === 'refused');
    expect(full.length).toBeGreaterThan(0);
    expect(full.every(({ code, retryAfterMs = 0 }) => code === 'full' && retryAfterMs > 0)).toBe(true);
    const queued = (await logOf(system.client, id)).filter(({ type }) => type === 'message.queued');
    expect(queued).toHaveLength(outcomes.length - full.length);
    // The orchestrator looks at the stream every 250 ms, and holds at most 64 commands at once.
    expect(queued.length).toBeGreaterThan(50);
    expect(queued.length).toBeLessThan(100 + 64);
  });

  it('L44 unavailable: a session whose log is damaged', async () => {
    const id = randomUUID();
    await system.bus.publisher.publish(subjects.log(system.tenant, id), Buffer.from('{"no":"commit"}'));
    expect(await send(id, prompt('hello'))).toMatchObject([{ code: 'unavailable' }]);
  });

  it('L44 the same command ten times has one effect and ten equal answers', async () => {
    const id = await session('talks');
    const outcomes = await send(id, prompt('once'), 10);
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(outcomes[0]).toMatchObject({ status: 'accepted', sequence: 1 });
    expect((await logOf(system.client, id)).filter(({ type }) => type === 'message.queued')).toHaveLength(1);
    const creation = randomUUID();
    const created = await send(
      creation,
      create('talks', { prompt: { messageId: 'm', content: [{ type: 'text', text: 'x' }] } }),
      10,
    );
    expect(new Set(created.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
  });

  it.each([
    ['steer', { ...prompt('left'), kind: 'steer' }, 'message.queued'],
    ['inject', { ...prompt('a fact'), kind: 'inject' }, 'message.queued'],
    ['set-mode', { kind: 'set-mode', mode: 'plan' }, 'session.mode'],
    ['resume', { kind: 'resume' }, 'session.resumed'],
    ['close', { kind: 'close' }, 'session.closed'],
  ])('L44 %s ten times has one effect and ten equal answers', async (_kind, command, type) => {
    const id = randomUUID();
    const modes = [{ id: 'plan', name: 'Plan' }];
    await send(id, { kind: 'create', agent: system.agent('talks', { modes }) });
    const outcomes = await send(id, command, 10);
    expect(outcomes).toEqual(outcomes.map(() => ({ status: 'accepted', sequence: 1 })));
    expect((await logOf(system.client, id)).filter((event) => event.type === type)).toHaveLength(1);
  });

  it('L44 cancel of an open turn, and fork, ten times: one effect and ten equal answers', async () => {
    const id = await session('slow');
    await send(id, prompt('one'));
    const cancels = await send(id, { kind: 'cancel', reason: 'enough' }, 10);
    expect(cancels).toEqual(cancels.map(() => cancels[0]));
    const log = await logOf(system.client, id);
    expect(log.filter(({ type }) => type === 'turn.cancelling')).toHaveLength(1);
    const fork = randomUUID();
    const forks = await send(fork, { kind: 'fork', from: { session: id, sequence: 0 } }, 10);
    expect(forks).toEqual(forks.map(() => ({ status: 'accepted', sequence: 0 })));
    expect((await logOf(system.client, fork)).map(({ type }) => type)).toEqual(['session.created']);
  });

  it.each(['steer', 'inject'])('L44 conflict: a message id that %s uses with other content', async (kind) => {
    const id = await session('talks');
    const commandId = randomUUID();
    const first = { ...prompt('one'), kind, commandId };
    const [accepted] = await send(id, first);
    expect(await send(id, first)).toEqual([accepted]);
    const other = { ...prompt('other', { messageId: first.messageId }) };
    for (const again of [{ ...other, kind }, { ...other, kind, commandId }, other])
      expect(await send(id, again)).toMatchObject([{ status: 'refused', code: 'conflict' }]);
  });
});
