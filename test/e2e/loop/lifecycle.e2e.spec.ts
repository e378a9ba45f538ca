import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { agentSpecSchema, type EventType } from '@jetloop/contracts';
import { Journal } from '@jetloop/messaging';
import type { ModelScript } from '@jetloop/testing';
import type { AgentPolicies } from '../support/agent-policies.js';
import { gate, within } from '../support/gate.js';
import { spoken, text } from '../support/messages.js';
import { TestSystem } from '../support/test-system.js';

/** What does not come by itself comes within this time, or never. */
const LONG_MS = 15_000;
const answers: ModelScript = () => ({ text: 'hello' });
const forever = { after: new Promise(() => undefined) };
/** Sources of session starts that policies were asked about, by session. */
const starts: { session: string; source: string }[] = [];

const plugins: Record<string, AgentPolicies> = {
  returning: {
    'session-start': ({ source }, { session }) => {
      starts.push({ session, source });
      return source === 'resume' ? { decision: 'none', context: text('Welcome back.') } : undefined;
    },
  },
};

describe('what else comes to a session', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ plugins });
  });
  afterAll(() => system.stop());

  /** The commits of a session that hold such an event: the events of each. */
  const commitsWith = async (session: string, type: EventType) =>
    (await new Journal(system.bus).load(system.tenant, session))
      .map(({ commit }) => commit.events)
      .filter((events) => events.some((event) => event.type === type));

  it('L39 a second prompt interrupts: one commit accepts it and cancels that turn, and then it runs', async () => {
    const session = await system.create((_request, n) => (n === 1 ? forever : { text: 'hello' }));
    const end = await session.begin('one');
    await session.until('step.start');
    const { messageId } = await system.client.prompt(session.id, 'two', { whenBusy: 'interrupt' });
    expect(await within(LONG_MS, end())).toMatchObject({ kind: 'aborted' });
    expect(await session.endOf(messageId)).toEqual({ kind: 'completed' });
    expect(await commitsWith(session.id, 'turn.cancelling')).toMatchObject([
      [
        { type: 'message.queued', data: { messageId, interrupts: 1 } },
        { type: 'turn.cancelling', data: { turn: 1 } },
      ],
    ]);
    expect(await session.data('turn.cancelling')).toHaveLength(1);
    expect(spoken(session.requests.at(-1)).at(-1)).toBe('user: two');
  });

  it('L39 reject is busy and leaves nothing behind; queue runs in the next turn', async () => {
    const release = gate();
    const session = await system.create((_request, n) => ({
      text: 'hello',
      ...(n === 1 ? { after: release.opened } : {}),
    }));
    const end = await session.begin('one');
    await session.until('step.start');
    await expect(system.client.prompt(session.id, 'no', { whenBusy: 'reject' })).rejects.toMatchObject({
      code: 'busy',
    });
    const queued = await session.begin('two');
    release.open();
    expect([await end(), await queued()]).toEqual([{ kind: 'completed' }, { kind: 'completed' }]);
    expect(await session.data('message.queued')).toHaveLength(2);
    expect(session.requests).toHaveLength(2);
  });

  it('L40 inject while idle: a turn of its own without a model call, and the next request holds it', async () => {
    const session = await system.create(answers);
    const { messageId } = await system.client.inject(session.id, 'the build is red');
    expect(await session.endOf(messageId)).toEqual({ kind: 'completed' });
    expect(session.requests).toEqual([]);
    expect(await session.data('turn.start')).toMatchObject([{ trigger: { kind: 'injection' } }]);
    expect(await session.prompt('how is it?')).toEqual({ kind: 'completed' });
    expect(spoken(session.requests[0])).toEqual([
      'user: <context source="caller">the build is red</context>',
      'user: how is it?',
    ]);
  });

  it('L40 inject in a turn joins it before its next step; steer while idle is a prompt', async () => {
    const release = gate();
    const session = await system.create(
      [{ after: release.opened, calls: [{ name: 'list_dir' }] }, { text: 'I see' }, { text: 'hello' }],
      { tools: ['list_dir'] },
    );
    const end = await session.begin('go');
    await session.until('step.start');
    await system.client.inject(session.id, 'the build is green');
    release.open();
    expect(await end()).toEqual({ kind: 'completed' });
    expect(await session.data('turn.start')).toHaveLength(1);
    expect(spoken(session.requests[1]).at(-1)).toBe('user: <context source="caller">the build is green</context>');
    const { messageId } = await system.client.steer(session.id, 'hello?');
    expect(await session.endOf(messageId)).toEqual({ kind: 'completed' });
    expect(await session.data('user.message')).toMatchObject([{ turn: 1 }, { turn: 2, messageId }]);
    expect(await session.data('steering.message')).toEqual([]);
  });

  it('L41 a turn that takes longer than its deadline is aborted, and its model stops', async () => {
    const session = await system.create(() => forever, { deadlines: { turn: 3_000 } });
    expect(await within(LONG_MS, session.prompt('go'))).toEqual({ kind: 'aborted', reason: 'deadline' });
    await within(LONG_MS, session.requests[0]?.aborted);
    const quick = await system.create(answers, { deadlines: { turn: 20_000 } });
    expect(await quick.prompt('go')).toEqual({ kind: 'completed' });
  });

  it('L45 one commit of close ends the open turn and bars what comes after; only a fork is accepted', async () => {
    const session = await system.create(() => forever);
    const end = await session.begin('go');
    await session.until('step.start');
    const { messageId } = await system.client.prompt(session.id, 'queued');
    await system.client.closeSession(session.id, { reason: 'enough for today' });
    expect(await within(LONG_MS, end())).toEqual({ kind: 'closed' });
    expect(await session.until('session.closed')).toMatchObject({ data: { reason: 'enough for today' } });
    expect(await session.data('message.discarded')).toEqual([{ messageId, reason: 'closed' }]);
    expect(await commitsWith(session.id, 'turn.cancelling')).toMatchObject([
      [
        { type: 'turn.cancelling', data: { closes: 'enough for today' } },
        { type: 'message.discarded', data: { messageId } },
      ],
    ]);
    for (const refused of [
      () => system.client.prompt(session.id, 'more'),
      () => system.client.steer(session.id, 'more'),
      () => system.client.inject(session.id, 'more'),
      () => system.client.resume(session.id),
      () => system.client.cancel(session.id),
    ])
      await expect(refused()).rejects.toMatchObject({ code: 'closed' });
    expect((await session.types()).at(-1)).toBe('session.closed');
    const last = (await session.events()).length - 1;
    const { session: fork } = await system.client.fork({ session: session.id, sequence: last });
    expect((await system.session(fork, '').types())[0]).toBe('session.created');
  });

  it('L45 resume asks the policies of the start again, with source resume, before the next turn', async () => {
    const session = await system.create(answers, { name: 'returning' });
    await session.prompt('one');
    await system.client.resume(session.id);
    expect(await session.prompt('two')).toEqual({ kind: 'completed' });
    expect(starts.filter((one) => one.session === session.id).map(({ source }) => source)).toEqual([
      'startup',
      'resume',
    ]);
    expect(spoken(session.requests[1])).toEqual([
      'user: one',
      'assistant: hello',
      'user: <context source="policy:returning/test">Welcome back.</context>',
      'user: two',
    ]);
  });

  it('L47 an agent spec in AGENTS is taken whole into the log; a workspace outside the roots is refused', async () => {
    const target = await system.putAgent('kept', answers, { description: 'kept', systemPrompt: 'Be brief.' });
    const { session } = await system.client.create({ agent: { name: 'kept' }, workspace: system.workspace });
    const kept = system.session(session, target);
    const expected = {
      name: 'kept',
      description: 'kept',
      systemPrompt: 'Be brief.',
      model: { chain: [target] },
      tools: [],
    };
    expect((await kept.data('session.created'))[0]?.agent).toEqual(agentSpecSchema.parse(expected));
    for (const workspace of ['/etc', '..', `${system.workspace}/../elsewhere`, `${system.workspace}x`])
      await expect(system.client.create({ agent: { name: 'kept' }, workspace })).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringContaining('workspace'),
      });
    await expect(system.client.create({ agent: { name: 'unheard-of' } })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('L47 a workspace that leads out of the roots by a link: no tool sees it', async () => {
    const workspace = join(system.workspace, 'way-out');
    await symlink('/etc', workspace);
    const calls = [{ name: 'list_dir' }, { name: 'bash', arguments: { command: 'cat hostname' } }];
    await system.putAgent('linked', [{ calls }, { text: 'done' }], { tools: ['list_dir', 'bash'] });
    const { session: id } = await system.client.create({ agent: { name: 'linked' }, workspace });
    const session = system.session(id);
    expect(await session.prompt('look')).toEqual({ kind: 'completed' });
    const refused = { isError: true, error: { code: 'workspace_unavailable' } };
    expect(await session.data('tool.result')).toMatchObject([refused, refused]);
  });
});
