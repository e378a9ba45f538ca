import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { EventData, EventType } from '@jetloop/contracts';
import { runAuditQuery } from '@jetloop/persistence';
import type { ModelScript, ServiceProcess } from '@jetloop/testing';
import { TestSession } from '../e2e/support/test-session.js';
import { gate } from '../e2e/support/gate.js';
import { spoken } from '../e2e/support/messages.js';
import { ProcessSystem } from './support/process-system.js';
import { problemsOf } from './support/session-log.js';
import { callsTool } from './support/tool-turns.js';

jest.setTimeout(90_000);

const toolRunner = pathToFileURL(join(import.meta.dirname, '../../services/tool-runner/dist/index.js')).href;
/** Long enough that three turns begin, and everything is killed, before it passes. */
const L41_DEADLINE_MS = 6_000;
const forever = { after: new Promise(() => undefined) };
const callsOnce: ModelScript = (request) =>
  spoken(request).at(-1)?.startsWith('user') ? { calls: [{ name: 'list_dir' }] } : { text: 'done' };
const looksAt = (...paths: string[]): ModelScript => {
  const calls = paths.map((path, n) => ({ id: `call_${n}`, name: 'list_dir', arguments: { path } }));
  return (request) => (spoken(request).at(-1)?.startsWith('user') ? { calls } : { text: 'done' });
};
function spawns(agent: string): ModelScript {
  const calls = [{ name: 'spawn_agent', arguments: { agent, prompt: 'take your time' } }];
  return (request) => (spoken(request).at(-1)?.startsWith('user') ? { calls } : { text: 'it is done' });
}
const childMayAnswer = gate();
const models: Record<string, ModelScript> = {
  asks: callsOnce,
  expires: callsOnce,
  grouped: looksAt('.', 'asked', 'other'),
  denied: callsOnce,
  eased: callsOnce,
  again: callsOnce,
  moved: looksAt('.'),
  adds: callsTool('add', { a: 1 }),
  hangs: () => forever,
  sleeps: callsTool('bash', { command: 'sleep 300' }),
  parent: spawns('child'),
  child: (_request, n) => (n === 1 ? forever : { text: 'I was interrupted, but here it is' }),
  'waits-for-child': spawns('patient'),
  patient: () => ({ after: childMayAnswer.opened, text: 'here it is' }),
  'looks-at-tools': (request, n) => {
    const [, sum] = /^user: add (.*)$/.exec(spoken(request).at(-1) ?? '') ?? [];
    if (sum === undefined) return { text: 'I see' };
    return { calls: [{ id: `call_${n}`, name: 'add', arguments: JSON.parse(sum) as unknown }] };
  },
};

/** A set for one agent: what its calls meet, in order. */
const set = (agent: string, ...policies: object[]) => ({
  name: agent,
  agents: [agent],
  policies: policies.map((policy, order) => ({ name: `p${order}`, order, seams: ['pre-tool'], ...policy })),
});
const ask = { decide: { ask: 'May it look?' } };
const elsewhere = (path: string) => ({ decide: { rewrite: { arguments: { path } } } });
const sets = [
  set('asks', ask),
  set('adds', ask),
  set('expires', { decide: { ask: { question: 'May it look?', 'expires-in': '4s' } } }),
  set('grouped', { ...ask, when: { argument: { path: 'path', equals: 'asked' } } }),
  set('denied', ask),
  set('eased', ask),
  set('again', ask),
  set('moved', elsewhere('other'), ask),
];
/** What those who were asked about find when they come back. */
const changed = [
  set('denied', { decide: { deny: 'no more looking' } }),
  set('eased', { ...ask, when: { tool: 'bash' } }),
  set('again', { decide: { ask: 'Really?' } }),
  set('moved', elsewhere('asked')),
];
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
    for (const one of sets) await system.putPolicies(one.name, one);
    await Promise.all(services.map(async (service) => running.set(service, await system.spawn(service))));
  });
  afterAll(() => system.stop());

  const create = async (target: string, id: string, spec: Parameters<ProcessSystem['agent']>[1] = {}) => {
    const agent = system.agent(target, spec);
    await system.client.create({ session: id, agent, workspace: system.folder });
    return new TestSession(system.client, id, system.provider.requests(target));
  };
  /** All services die, and come again after what happens meanwhile. */
  const restart = async (meanwhile = () => Promise.resolve(), env: Readonly<Record<string, string>> = {}) => {
    for (const process of running.values()) process.kill9();
    await Promise.all([...running.values()].map((process) => process.exited));
    await meanwhile();
    await Promise.all(services.map(async (service) => running.set(service, await system.spawn(service, env))));
  };
  const waiting = async (id: string, target = 'asks', tool = 'list_dir') => {
    const session = await create(target, id, { tools: [tool] });
    const end = await session.begin('look');
    await session.until('approval.requested');
    /** What its model was told last, once it is the last to end. */
    const told = () => spoken(session.requests.at(-1)).at(-1);
    return { session, end, told };
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
  const toolModule = async (...numbers: string[]) => {
    const module = join(system.folder, `add-${numbers.length}.mjs`);
    await writeFile(module, adding(numbers));
    return { JETLOOP_TOOL_MODULES: module };
  };
  const completed = { kind: 'completed' };
  const decide = (id: string, outcome: 'approved' | 'rejected', more: { approval?: string; note?: string } = {}) => {
    const { approval = '1-1-0', note } = more;
    return system.client.decideApproval(id, approval, outcome, note === undefined ? {} : { note });
  };
  const stale = (outcome: string) => ({ code: 'stale', message: expect.stringContaining(outcome) });

  describe('H6 a question that outlives the restart of every service', () => {
    type Waiting = Awaited<ReturnType<typeof waiting>>;
    const open = new Map<string, Waiting>();
    const taken = (name: string): Waiting => open.get(name)!;
    const errorOf = async (name: string) =>
      (await taken(name).session.data('tool.result')).map(({ error }) => error?.code);

    beforeAll(async () => {
      await Promise.all(['asked', 'other'].map((name) => mkdir(join(system.folder, name))));
      await running.get('tool-runner')?.stop();
      running.set('tool-runner', await system.spawn('tool-runner', await toolModule('a', 'b')));
      const begin = async (name: string, target = 'asks', tool = 'list_dir') => {
        open.set(name, await waiting(name, target, tool));
      };
      await Promise.all([
        ...['approved', 'rejected', 'cancelled', 'raced'].map((name) => begin(name)),
        ...['grouped', 'denied', 'eased', 'again', 'moved'].map((name) => begin(name, name)),
        begin('adds', 'adds', 'add'),
      ]);
      await taken('grouped').session.until('tool.result', 2);
      await begin('expires', 'expires'); // the last, so that its time is not over before the end of the services
      const { session } = taken('expires');
      const [question] = await session.data('approval.requested');
      const change = async () => {
        for (const one of changed) await system.putPolicies(one.name, one);
        expect(await decided(session)).toEqual([]);
        await sleep(Math.max(0, Date.parse(question?.expiresAt ?? '') - Date.now()));
      };
      await restart(change, await toolModule('a', 'b', 'c'));
    });
    afterAll(async () => {
      for (const { session } of open.values()) expect(problemsOf(await session.events())).toEqual([]);
    });

    it('is approved, and approved again: it runs once', async () => {
      const { session, end } = taken('approved');
      expect(await untilInSql('approved')).toEqual(['waiting', 'approval', 1]);
      expect(await decide('approved', 'approved')).toEqual(await decide('approved', 'approved'));
      expect(await end()).toEqual(completed);
      expect(await decided(session)).toMatchObject([{ outcome: 'approved', by: 'test' }]);
      expect(await session.data('tool.result')).toMatchObject([{ isError: false }]);
      expect(session.requests.filter(({ messages }) => messages.length > 1)).toHaveLength(1);
      await expect(decide('approved', 'rejected')).rejects.toMatchObject(stale('approved'));
    });

    it('is rejected: the model is told by whom and why, and a later word is stale', async () => {
      const { session, end, told } = taken('rejected');
      await decide('rejected', 'rejected', { note: 'Not on a Friday.' });
      expect(await end()).toEqual(completed);
      expect(await decided(session)).toMatchObject([{ outcome: 'rejected', by: 'test' }]);
      expect(await errorOf('rejected')).toEqual(['rejected']);
      expect(told()).toContain('rejected by test: Not on a Friday.');
      await expect(decide('rejected', 'approved')).rejects.toMatchObject(stale('rejected'));
    });

    it('expires while everything is down: the model is told so, and a later word is stale', async () => {
      const { session, end, told } = taken('expires');
      expect(await end()).toEqual(completed);
      expect(await decided(session)).toMatchObject([{ outcome: 'expired', by: 'timer' }]);
      expect(await errorOf('expires')).toEqual(['expired']);
      expect(told()).toContain('Nobody approved this call in time.');
      await expect(decide('expires', 'approved')).rejects.toMatchObject(stale('expired'));
    });

    it('is cancelled with its turn: nothing runs, and a later word is stale', async () => {
      const { session, end } = taken('cancelled');
      await system.client.cancel('cancelled');
      expect(await end()).toMatchObject({ kind: 'aborted' });
      expect(await decided(session)).toMatchObject([{ outcome: 'cancelled' }]);
      expect(await errorOf('cancelled')).toEqual(['cancelled']);
      await expect(decide('cancelled', 'approved')).rejects.toMatchObject(stale('cancelled'));
    });

    it('is decided by two at the same instant: exactly one outcome stands', async () => {
      const { session, end } = taken('raced');
      const outcomes = ['approved', 'rejected', 'approved', 'rejected'] as const;
      const answers = await Promise.allSettled(outcomes.map((outcome) => decide('raced', outcome)));
      expect(await end()).toEqual(completed);
      const [verdict, ...others] = await decided(session);
      expect(others).toEqual([]);
      const expected = outcomes.map((outcome) => (outcome === verdict?.outcome ? 'fulfilled' : 'rejected'));
      expect(answers.map(({ status }) => status)).toEqual(expected);
    });

    it('is one of a group of readonly calls: the others have run, and the model is asked when it is settled', async () => {
      const { session, end } = taken('grouped');
      expect((await session.data('tool.result')).map(({ n }) => n).sort()).toEqual([0, 2]);
      await decide('grouped', 'approved', { approval: '1-1-1' });
      expect(await end()).toEqual(completed);
      expect((await session.data('tool.result')).map(({ isError }) => isError)).toEqual([false, false, false]);
      const told = spoken(session.requests.at(-1)).filter((line) => line.startsWith('tool'));
      expect(told.map((line) => line.split(':')[0])).toEqual(['tool call_0', 'tool call_1', 'tool call_2']);
    });

    it('meets policies that changed meanwhile: their deny counts', async () => {
      const { session, end } = taken('denied');
      await decide('denied', 'approved');
      expect(await end()).toEqual(completed);
      expect(await decided(session)).toMatchObject([{ outcome: 'approved', reevaluate: true }]);
      expect(await errorOf('denied')).toEqual(['denied']);
    });

    it('meets policies that changed meanwhile: what they allow now runs', async () => {
      const { session, end } = taken('eased');
      await decide('eased', 'approved');
      expect(await end()).toEqual(completed);
      expect(await decided(session)).toMatchObject([{ outcome: 'approved', reevaluate: true }]);
      expect(await session.data('tool.result')).toMatchObject([{ isError: false }]);
    });

    it('meets policies that changed meanwhile: a person is asked again, and the second word counts', async () => {
      const { session, end } = taken('again');
      await decide('again', 'approved');
      await session.until('approval.requested', 2);
      expect(await session.data('tool.result')).toEqual([]);
      await decide('again', 'rejected', { approval: '1-1-0-2' });
      expect(await end()).toEqual(completed);
      expect((await decided(session)).map(({ outcome }) => outcome)).toEqual(['approved', 'rejected']);
      expect(await errorOf('again')).toEqual(['rejected']);
    });

    it('meets policies that make other arguments now: it does not run with them', async () => {
      const { session, end } = taken('moved');
      await decide('moved', 'approved');
      expect(await end()).toEqual(completed);
      expect(await session.data('tool.call')).toMatchObject([{ effective: { path: 'other' } }]);
      expect(await errorOf('moved')).toEqual(['denied']);
    });

    it('meets a tool that takes something else: the policies are asked again', async () => {
      const { session, end } = taken('adds');
      await decide('adds', 'approved');
      const again = (await session.until('approval.requested', 2)).data as EventData<'approval.requested'>;
      expect(await session.data('work.deferred')).toMatchObject([{ what: 'tool.0', reason: 'tool_changed' }]);
      expect(await session.data('tool.result')).toEqual([]);
      await decide('adds', 'approved', { approval: again.approvalId });
      expect(await end()).toEqual(completed);
      expect(await session.data('tool.result')).toMatchObject([{ isError: false, content: [{ text: 'added 3' }] }]);
    });
  });

  it('L41 the deadline of a turn holds when it passes while everything is down: while a model answers, a tool runs, a person is asked', async () => {
    const begin = async (target: string, tools: string[], until: EventType) => {
      const session = await create(target, `l41-${target}`, { tools, deadlines: { turn: L41_DEADLINE_MS } });
      const end = await session.begin('go');
      await session.until(until);
      return { session, end };
    };
    const [model, tool, person] = await Promise.all([
      begin('hangs', [], 'step.start'),
      begin('sleeps', ['bash'], 'tool.call'),
      begin('asks', ['list_dir'], 'approval.requested'),
    ]);
    const begun = Date.now();
    await restart(async () => {
      for (const { session } of [model, tool, person]) expect(await session.data('turn.cancelling')).toEqual([]);
      await sleep(begun + L41_DEADLINE_MS - Date.now());
    });
    for (const { session, end } of [model, tool, person]) {
      expect(await end()).toEqual({ kind: 'aborted', reason: 'deadline' });
      expect(problemsOf(await session.events())).toEqual([]);
      expect(await session.data('turn.cancelling')).toMatchObject([{ reason: 'deadline', by: 'timer' }]);
    }
    expect(await tool.session.data('tool.result')).toMatchObject([{ isError: true }]);
    expect(await decided(person.session)).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await person.session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'cancelled' } }]);
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

  it('L43 the orchestrator is killed while a child is open, which ends meanwhile: its answer comes back', async () => {
    await system.putAgent('patient');
    const session = await create('waits-for-child', 'l43-killed', { tools: ['spawn_agent'] });
    const end = await session.begin('go');
    const child = new TestSession(system.client, 'l43-killed_1_1_0', system.provider.requests('patient'));
    while (child.requests.length === 0) await sleep(20);
    running.get('loop-orchestrator')?.kill9();
    await running.get('loop-orchestrator')?.exited;
    childMayAnswer.open();
    expect(await session.data('tool.result')).toEqual([]);
    running.set('loop-orchestrator', await system.spawn('loop-orchestrator'));
    expect(await end()).toEqual(completed);
    expect(await session.data('tool.result')).toMatchObject([{ isError: false, content: [{ text: 'here it is' }] }]);
    for (const one of [session, child]) expect(problemsOf(await one.events())).toEqual([]);
    expect(child.requests).toHaveLength(1);
  });

  it('L46 a tool list that changes between turns: tools come, take something else, and go', async () => {
    const session = await create('looks-at-tools', 'l46', { tools: ['*'] });
    const runnerWith = async (env: Readonly<Record<string, string>> = {}) => {
      await running.get('tool-runner')?.stop();
      running.set('tool-runner', await system.spawn('tool-runner', env));
    };
    const turn = async (prompt: string) => {
      expect(await session.prompt(prompt)).toEqual(completed);
      const hasTool = session.requests.at(-1)?.tools.includes('add');
      const result = (await session.data('tool.result')).at(-1);
      const hash = (await session.data('tools.listed')).at(-1)?.tools.find(({ name }) => name === 'add')?.schemaHash;
      return { hasTool, result, hash };
    };
    expect(await turn('what can you do?')).toEqual({ hasTool: false });
    await runnerWith(await toolModule('a'));
    const came = await turn('add {"a":1}');
    expect(came).toMatchObject({ hasTool: true, result: { isError: false, content: [{ text: 'added 1' }] } });
    await runnerWith(await toolModule('a', 'b'));
    const changed = await turn('add {"b":2}');
    expect(changed).toMatchObject({ hasTool: true, result: { isError: false, content: [{ text: 'added 2' }] } });
    expect(changed.hash).not.toBe(came.hash);
    await runnerWith();
    expect(await turn('add {"a":1}')).toMatchObject({
      hasTool: false,
      result: { isError: true, error: { code: 'unknown_tool' } },
    });
    expect(await session.data('tools.listed')).toHaveLength(4);
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
