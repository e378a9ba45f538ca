import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { EventData } from '@jetloop/contracts';
import { runAuditQuery } from '@jetloop/persistence';
import type { ModelScript, ServiceProcess } from '@jetloop/testing';
import { TestSession } from '../e2e/support/test-session.js';
import { spoken } from '../e2e/support/messages.js';
import { ProcessSystem } from './support/process-system.js';
import { problemsOf } from './support/session-log.js';
import { callsTool, counterModule } from './support/tool-turns.js';

jest.setTimeout(90_000);

const toolRunner = pathToFileURL(join(import.meta.dirname, '../../services/tool-runner/dist/index.js')).href;
const forever = { after: new Promise(() => undefined) };
const callsOnce: ModelScript = (request) =>
  spoken(request).at(-1)?.startsWith('user') ? { calls: [{ name: 'list_dir' }] } : { text: 'done' };
const models: Record<string, ModelScript> = {
  asks: callsOnce,
  adds: callsTool('add', { a: 1 }),
  hangs: () => forever,
  parent: (request) =>
    spoken(request).at(-1)?.startsWith('user')
      ? { calls: [{ name: 'spawn_agent', arguments: { agent: 'child', prompt: 'take your time' } }] }
      : { text: 'it is done' },
  child: (_request, n) => (n === 1 ? forever : { text: 'I was interrupted, but here it is' }),
  'looks-at-tools': () => ({ text: 'I see' }),
};

const asking = (decide: unknown, agent = 'asks') => ({
  name: 'asking',
  agents: [agent],
  policies: [{ name: 'ask', seams: ['pre-tool'], decide }],
});
/** Source of a tool module. The numbers may be left out: what it takes changes, and old arguments still fit. */
const adding = (numbers: readonly string[]) => `
import { defineTool } from '${toolRunner}';
import { z } from '${import.meta.resolve('zod')}';
export default defineTool({
  name: 'add',
  description: 'Adds.',
  input: z.object({ ${numbers.map((name) => `${name}: z.number().optional()`).join(', ')} }),
  run: () => 'added ${numbers.length}',
});
`;
const services = ['loop-orchestrator', 'llm-router', 'tool-runner', 'hook-policy', 'session-projector'];

describe('a session that waits', () => {
  let system: ProcessSystem;
  const running = new Map<string, ServiceProcess>();
  beforeAll(async () => {
    system = await ProcessSystem.start({ models });
    await system.putPolicies('asking', asking({ ask: 'May it look?' }));
    await Promise.all(services.map(async (service) => running.set(service, await system.spawn(service))));
  });
  afterAll(() => system.stop());

  const create = async (target: string, id: string, spec: Parameters<ProcessSystem['agent']>[1] = {}) => {
    const agent = system.agent(target, spec);
    await system.client.create({ session: id, agent, workspace: system.folder });
    return new TestSession(system.client, id, system.provider.requests(target));
  };
  /** All services die and come again. */
  const restart = async () => {
    for (const process of running.values()) process.kill9();
    await Promise.all([...running.values()].map((process) => process.exited));
    await Promise.all(services.map(async (service) => running.set(service, await system.spawn(service))));
  };
  const waiting = async (id: string) => {
    const session = await create('asks', id, { tools: ['list_dir'] });
    const end = await session.begin('look');
    const { data } = await session.until('approval.requested');
    /** What its model was told last, once it is the last to end. */
    const told = () => spoken(session.requests.at(-1)).at(-1);
    return { session, end, asked: data as EventData<'approval.requested'>, told };
  };
  const decided = (session: TestSession) => session.data('approval.decided');
  /** What SQL says of a session that waits, once it has heard of it. */
  const untilInSql = async (id: string): Promise<unknown[]> => {
    for (;;) {
      const query = `select status, waiting_for, open_approvals from sessions where session_id = '${id}'`;
      const [row] = (await runAuditQuery(system.databaseUrl, query)).rows;
      if (row?.[0] === 'waiting') return row;
      await sleep(50);
    }
  };
  /** A module with one tool, which takes so many numbers. */
  const runnerWith = async (...numbers: string[]) => {
    const module = join(system.folder, `add-${numbers.length}.mjs`);
    await writeFile(module, adding(numbers));
    await running.get('tool-runner')?.stop();
    running.set('tool-runner', await system.spawn('tool-runner', { JETLOOP_TOOL_MODULES: module }));
  };

  it('H6 a question outlives the restart of everything: approved, rejected, decided twice, too late', async () => {
    const yes = await waiting('h6-approved');
    const no = await waiting('h6-rejected');
    await restart();
    expect(await untilInSql('h6-rejected')).toEqual(['waiting', 'approval', 1]);
    await system.client.decideApproval(yes.session.id, '1-1-0', 'approved');
    await system.client.decideApproval(yes.session.id, '1-1-0', 'approved');
    expect(await yes.end()).toEqual({ kind: 'completed' });
    expect(await yes.session.data('tool.result')).toMatchObject([{ isError: false }]);
    expect(await decided(yes.session)).toMatchObject([{ outcome: 'approved', by: 'test' }]);
    await system.client.decideApproval(no.session.id, '1-1-0', 'rejected', { note: 'Not on a Friday.' });
    expect(await no.end()).toEqual({ kind: 'completed' });
    expect(await no.session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'rejected' } }]);
    expect(no.told()).toContain('rejected by test: Not on a Friday.');
    await expect(system.client.decideApproval(no.session.id, '1-1-0', 'approved')).rejects.toMatchObject({
      code: 'stale',
      message: expect.stringContaining('rejected'),
    });
    expect(problemsOf(await yes.session.events())).toEqual([]);
    expect(problemsOf(await no.session.events())).toEqual([]);
  });

  it('H6 decisions at the same instant: exactly one outcome stands', async () => {
    const { session, end } = await waiting('h6-race');
    const outcomes = ['approved', 'rejected', 'approved', 'rejected'] as const;
    const answers = await Promise.allSettled(
      outcomes.map((outcome) => system.client.decideApproval(session.id, '1-1-0', outcome)),
    );
    expect(await end()).toEqual({ kind: 'completed' });
    const [verdict, ...others] = await decided(session);
    expect(others).toEqual([]);
    expect(answers.map(({ status }) => status)).toEqual(
      outcomes.map((outcome) => (outcome === verdict?.outcome ? 'fulfilled' : 'rejected')),
    );
  });

  it('H6 a question expires while everything is down, and the model is told so', async () => {
    await system.putPolicies('asking', asking({ ask: { question: 'May it look?', 'expires-in': '2s' } }));
    await sleep(200); // the services see it
    const { session, end } = await waiting('h6-expired');
    await restart();
    expect(await end()).toEqual({ kind: 'completed' });
    expect(await decided(session)).toMatchObject([{ outcome: 'expired', by: 'timer' }]);
    expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'expired' } }]);
    await expect(system.client.decideApproval(session.id, '1-1-0', 'approved')).rejects.toMatchObject({
      code: 'stale',
    });
    await system.putPolicies('asking', asking({ ask: 'May it look?' }));
    await sleep(200);
  });

  it('H6 policies that changed while a person thought are asked again, and their deny counts', async () => {
    const { session, end } = await waiting('h6-changed');
    await system.putPolicies('asking', asking({ deny: 'no more looking' }));
    await sleep(200);
    await system.client.decideApproval(session.id, '1-1-0', 'approved');
    expect(await end()).toEqual({ kind: 'completed' });
    expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'denied' } }]);
    await system.putPolicies('asking', asking({ ask: 'May it look?' }));
    await sleep(200);
  });

  it('H6 a tool that takes something else than when a person was asked: the policies are asked again', async () => {
    await system.putPolicies('asking', asking({ ask: 'May it?' }, 'adds'));
    await runnerWith('a', 'b');
    const session = await create('adds', 'h6-tool', { tools: ['add'] });
    const end = await session.begin('add');
    await session.until('approval.requested');
    await runnerWith('a', 'b', 'c');
    await system.client.decideApproval(session.id, '1-1-0', 'approved');
    const again = (await session.until('approval.requested', 2)).data as EventData<'approval.requested'>;
    expect(await session.data('work.deferred')).toMatchObject([{ what: 'tool.0', reason: 'tool_changed' }]);
    expect(await session.data('tool.result')).toEqual([]);
    await system.client.decideApproval(session.id, again.approvalId, 'approved');
    expect(await end()).toEqual({ kind: 'completed' });
    expect(await session.data('tool.result')).toMatchObject([{ isError: false, content: [{ text: 'added 3' }] }]);
    expect(problemsOf(await session.events())).toEqual([]);
    await system.putPolicies('asking', asking({ ask: 'May it look?' }));
    await sleep(200);
  });

  it('L41 the deadline of a turn holds across a restart', async () => {
    const session = await create('hangs', 'l41', { deadlines: { turn: 1_500 } });
    const end = await session.begin('go');
    await session.until('step.start');
    await restart();
    expect(await end()).toEqual({ kind: 'aborted', reason: 'deadline' });
    expect(problemsOf(await session.events())).toEqual([]);
  });

  it("L43 the process that runs a child's model call is killed: the child goes on, and its answer comes back", async () => {
    await system.putAgent('child');
    const session = await create('parent', 'l43', { tools: ['spawn_agent'] });
    const end = await session.begin('go');
    const child = new TestSession(system.client, 'l43_1_1_0', system.provider.requests('child'));
    await session.until('tool.call');
    while (child.requests.length === 0) await sleep(20);
    running.get('llm-router')?.kill9();
    await running.get('llm-router')?.exited;
    running.set('llm-router', await system.spawn('llm-router'));
    expect(await end()).toEqual({ kind: 'completed' });
    expect(await session.data('tool.result')).toMatchObject([
      { isError: false, content: [{ text: 'I was interrupted, but here it is' }] },
    ]);
    expect(problemsOf(await child.events())).toEqual([]);
  });

  it('L46 a tool list that changes between turns: each request tells of the tools of its turn', async () => {
    const session = await create('looks-at-tools', 'l46', { tools: ['*'] });
    await session.prompt('what can you do?');
    await running.get('tool-runner')?.stop();
    running.set('tool-runner', await system.spawn('tool-runner', { JETLOOP_TOOL_MODULES: counterModule }));
    await session.prompt('and now?');
    const [first, second] = session.requests.map(({ tools }) => new Set(tools));
    expect([first?.has('list_dir'), first?.has('count')]).toEqual([true, false]);
    expect([second?.has('list_dir'), second?.has('count')]).toEqual([true, true]);
    expect(await session.data('tools.listed')).toHaveLength(2);
  });

  it('L47 an inline agent is refused where it is not allowed; one in AGENTS is taken', async () => {
    await running.get('loop-orchestrator')?.stop();
    const strict = await system.spawn('loop-orchestrator', { JETLOOP_ALLOW_INLINE_AGENTS: 'false' });
    running.set('loop-orchestrator', strict);
    await expect(create('asks', 'l47')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('expected the name of an agent'),
    });
    await system.putAgent('asks');
    await system.client.create({ session: 'l47', agent: { name: 'asks' }, workspace: system.folder });
  });
});
