import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { seams, subjects, type EventType, type HookCommand, type Seam } from '@jetloop/contracts';
import { definePolicy, putPolicySet } from '@jetloop/hook-policy';
import { PolicyStore } from '@jetloop/messaging';
import type { ModelScript } from '@jetloop/testing';
import { consumeEvents } from './support/external-consumer.js';
import { callsOnce } from './support/messages.js';
import type { TestSession } from './support/test-session.js';
import { TestSystem } from './support/test-system.js';

const bash = (command: string) => ({ name: 'bash', arguments: { command } });
const LONG = 'a long story, told again and again. '.repeat(400);

const models: Readonly<Record<string, ModelScript>> = {
  talks: () => ({ text: 'hello to you' }),
  lists: callsOnce('I have looked.', { name: 'list_dir', arguments: {} }),
  echoes: callsOnce('I have said it.', bash('echo one')),
  'reads-a-secret': callsOnce('I have read it.', { name: 'read_file', arguments: { path: 'key.txt' } }),
  'logs-in': callsOnce('I am in.', bash('echo the password is hunter2')),
  'calls-two': callsOnce('both are done', bash('while [ ! -e go ]; do sleep 0.05; done'), {
    name: 'write_file',
    arguments: { path: 'two.txt', content: '2' },
  }),
};

/** Who spoke in the conversations that were about to go to the model, by session. */
const conversations = new Map<string, string[][]>();

/** Says nothing, at every seam. */
const quiet = definePolicy({
  name: 'quiet',
  seams: {
    ...Object.fromEntries(seams.map((seam) => [seam, () => undefined])),
    'pre-step': async ({ messages }, { session }) => {
      const roles = (await messages()).map(({ role }) => role);
      conversations.set(session, [...(conversations.get(session) ?? []), roles]);
    },
  },
});

/** What was about to be replaced, whenever policies were asked about a compaction. */
const askedAbout: { session: string; turn: number; range: { from: number; to: number } }[] = [];
const agrees = definePolicy({
  name: 'agrees',
  seams: {
    'pre-compact': ({ from, to }, { session, turn }) => {
      askedAbout.push({ session, turn, range: { from, to } });
      return { decision: 'allow' };
    },
  },
});

/** A set for the agent of its name. */
const set = (name: string, ...policies: object[]): string =>
  JSON.stringify({
    name,
    agents: [name],
    policies: policies.map((policy, index) => ({ name: `p${index}`, order: index, ...policy })),
  });
const contextSeams = ['session-start', 'prompt-submit', 'pre-step', 'pre-tool', 'post-tool'];
const compacts = { seam: 'pre-step', when: { 'estimated-tokens': { gt: 2_000 } }, decide: { compact: true } };

const policies = [
  set('quiet', { seams: [...seams], plugin: 'quiet' }),
  set('adds', ...contextSeams.map((seam) => ({ seam, decide: { context: `added at ${seam}` } }))),
  set('rewrites-prompt', { seam: 'prompt-submit', decide: { redact: { patterns: ['hunter2'], with: '***' } } }),
  set('blocks-prompt', { seam: 'prompt-submit', decide: { block: 'not this one' } }),
  set('compacts', compacts),
  set('compacts-agreed', compacts, { seam: 'pre-compact', plugin: 'agrees' }, { seam: 'pre-compact', command: 'true' }),
  set('compacts-not', compacts, { seam: 'pre-compact', decide: { block: 'keep all of it' } }),
  set('rewrites-call', { seam: 'pre-tool', decide: { rewrite: { arguments: { command: 'echo two' } } } }),
  set('denies', { seam: 'pre-tool', decide: { deny: 'not with me' } }),
  set(
    'asks',
    { seam: 'pre-tool', decide: { rewrite: { arguments: { command: 'echo two' } } } },
    { seam: 'pre-tool', decide: { ask: { question: 'sure?', 'expires-in': '10m' } } },
  ),
  set('redacts-result', { seam: 'post-tool', decide: { redact: { patterns: ['hunter2'], with: '***' } } }),
  set('blocks-result', { seam: 'post-tool', decide: { block: 'nothing to see' } }),
  set('goes-on', {
    seam: 'turn-continuation',
    when: { default: 'stop', forced: { lt: 2 } },
    decide: { continue: 'once more' },
  }),
  set('stops', { seam: 'turn-continuation', when: { default: 'continue' }, decide: { stop: true } }),
  set(
    'two-rewrites',
    { seam: 'pre-tool', decide: { redact: { patterns: ['hunter2'], with: 'nothing' } } },
    { seam: 'pre-tool', decide: { rewrite: { arguments: { timeoutMs: 5_000 } } } },
  ),
];

let system: TestSystem;
beforeAll(async () => {
  system = await TestSystem.start({ policies, hookPolicy: { plugins: [quiet, agrees] } });
  await writeFile(join(system.workspace, 'key.txt'), 'the password is hunter2');
});
afterAll(() => system.stop());

/** A session of an agent that one policy set is for. */
const create = (model: string, agent: string): Promise<TestSession> =>
  system.create(models[model]!, { name: agent, tools: ['*'] });
const completed = { kind: 'completed' };
const source = (policy: string) => ({ kind: 'policy', name: policy });
const text = (value: string) => [{ type: 'text', text: value }];
const ofTypes = async (session: TestSession, ...wanted: EventType[]) =>
  (await session.types()).filter((type) => wanted.some((one) => one === type));

describe('H1 each seam with each decision', () => {
  it('nothing, at every seam: the turn is as without policies, and each seam has its mark', async () => {
    const session = await create('lists', 'quiet');
    expect(await session.prompt('look around')).toEqual(completed);
    expect(await session.data('policy.decided')).toMatchObject([
      { seam: 'session-start', decision: 'none' },
      { seam: 'turn-continuation', decision: 'none' },
      { seam: 'turn-continuation', decision: 'none' },
    ]);
    expect(await ofTypes(session, 'user.message', 'step.start', 'tool.call', 'tool.result')).toEqual([
      ...['user.message', 'step.start', 'tool.call', 'tool.result', 'step.start'],
    ]);
    expect(await session.data('tool.call')).toMatchObject([{ decision: 'allow' }]);
  });

  it('context, at every seam that takes it, under the name of its policy', async () => {
    const session = await create('lists', 'adds');
    expect(await session.prompt('look around')).toEqual(completed);
    const added = (await session.data('context.message')).map(({ content, source: from }) => ({ content, from }));
    const expected = (at: number) => ({ content: text(`added at ${contextSeams[at]}`), from: source(`adds/p${at}`) });
    expect(added).toEqual([0, 1, 2, 3, 4, 2].map(expected));
    const order = await ofTypes(session, 'tool.result', 'context.message', 'step.start');
    expect(order.slice(-3)).toEqual(['context.message', 'context.message', 'step.start']);
  });

  it('prompt-submit: other content', async () => {
    const session = await create('talks', 'rewrites-prompt');
    expect(await session.prompt('log in with hunter2')).toEqual(completed);
    expect(await session.data('user.message')).toMatchObject([{ content: text('log in with ***') }]);
    expect(await session.data('policy.decided')).toMatchObject([{ policy: 'rewrites-prompt/p0', decision: 'rewrite' }]);
  });

  it('prompt-submit: block', async () => {
    const session = await create('talks', 'blocks-prompt');
    expect(await session.prompt('hello')).toEqual({ kind: 'rejected', reason: 'not this one' });
    expect(await session.data('prompt.blocked')).toMatchObject([{ reason: 'not this one' }]);
    expect(await session.data('assistant.message')).toEqual([]);
  });

  it('pre-step: compact', async () => {
    const session = await create('talks', 'compacts');
    await session.prompt(LONG);
    expect(await ofTypes(session, 'compaction.start')).toEqual([]);
    expect(await session.prompt('and now?')).toEqual(completed);
    expect(await ofTypes(session, 'compaction.start', 'compaction.summary', 'compaction.end')).toEqual([
      ...['compaction.start', 'compaction.summary', 'compaction.end'],
    ]);
    const decided = await session.data('policy.decided');
    expect(decided).toContainEqual({ seam: 'pre-step', policy: 'compacts/p0', decision: 'compact' });
  });

  it('pre-compact: allow, of exactly what is then replaced; where nothing can be, nobody is asked', async () => {
    const session = await create('talks', 'compacts-agreed');
    await session.prompt(LONG);
    const nothing = { policy: 'loop-orchestrator', decision: 'block', reason: expect.stringContaining('nothing of') };
    expect(await session.decided('pre-compact')).toMatchObject([nothing]);
    expect(await session.data('hook.result')).toEqual([]);
    expect(await session.prompt('and now?')).toEqual(completed);
    const [start] = await session.data('compaction.start');
    expect(askedAbout.filter((one) => one.session === session.id)).toEqual([
      { session: session.id, turn: 2, range: start?.range },
    ]);
    expect(start?.range.to).toBeGreaterThan(0);
    expect(await session.data('hook.result')).toMatchObject([
      { seam: 'pre-compact', hook: 'compacts-agreed/p2', status: 'ok' },
    ]);
    expect(await session.data('compaction.summary')).toMatchObject([{ replaced: start?.range }]);
    expect(await session.decided('pre-compact')).toHaveLength(1);
    expect((await session.decided('pre-step')).at(-1)).toMatchObject({ decision: 'compact' });
  });

  it('pre-compact: block', async () => {
    const session = await create('talks', 'compacts-not');
    await session.prompt(LONG);
    expect(await session.prompt('and now?')).toEqual(completed);
    expect(await ofTypes(session, 'compaction.start')).toEqual([]);
    const blocked = { seam: 'pre-compact', policy: 'compacts-not/p1', decision: 'block', reason: 'keep all of it' };
    expect(await session.data('policy.decided')).toContainEqual(blocked);
  });

  it('pre-tool: other arguments', async () => {
    const session = await create('echoes', 'rewrites-call');
    expect(await session.prompt('say one')).toEqual(completed);
    expect(await session.data('tool.call')).toMatchObject([
      { arguments: '{"command":"echo one"}', effective: { command: 'echo two' }, decision: 'allow' },
    ]);
    expect(JSON.stringify((await session.data('tool.result'))[0]?.content)).toContain('two');
  });

  it('pre-tool: deny', async () => {
    const session = await create('echoes', 'denies');
    expect(await session.prompt('say one')).toEqual(completed);
    expect(await session.data('tool.call')).toMatchObject([{ decision: 'deny' }]);
    expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'denied' } }]);
  });

  it('pre-tool: ask, for the arguments that policies made', async () => {
    const session = await create('echoes', 'asks');
    const { messageId } = await system.client.prompt(session.id, 'say one');
    await session.until('approval.requested');
    const [requested] = await session.data('approval.requested');
    expect(requested).toMatchObject({ question: 'sure?', policyVersion: expect.stringContaining('asks@') });
    expect(await session.data('tool.result')).toEqual([]);
    await system.client.decideApproval(session.id, requested!.approvalId, 'approved');
    expect(await session.endOf(messageId)).toEqual(completed);
    expect(await session.data('tool.call')).toMatchObject([{ decision: 'ask', effective: { command: 'echo two' } }]);
    expect(JSON.stringify((await session.data('tool.result'))[0]?.content)).toContain('two');
  });

  it('post-tool: other content', async () => {
    const session = await create('reads-a-secret', 'redacts-result');
    expect(await session.prompt('read the key')).toEqual(completed);
    const [result] = await session.data('tool.result');
    expect(JSON.stringify(result)).toContain('the password is ***');
    expect(result).toMatchObject({ isError: false });
    expect(await session.data('policy.decided')).toMatchObject([{ policy: 'redacts-result/p0', decision: 'rewrite' }]);
  });

  it('post-tool: block', async () => {
    const session = await create('reads-a-secret', 'blocks-result');
    expect(await session.prompt('read the key')).toEqual(completed);
    const [result] = await session.data('tool.result');
    expect(result).toMatchObject({ isError: true, content: text('nothing to see') });
  });

  it('turn-continuation: continue', async () => {
    const session = await create('talks', 'goes-on');
    expect(await session.prompt('hello')).toEqual(completed);
    expect(await session.data('assistant.message')).toHaveLength(3);
    expect(await session.data('steering.message')).toMatchObject(
      Array.from({ length: 2 }, () => ({ content: text('once more'), source: source('goes-on/p0') })),
    );
  });

  it('turn-continuation: stop', async () => {
    const session = await create('lists', 'stops');
    expect(await session.prompt('look around')).toEqual(completed);
    expect(await session.data('assistant.message')).toHaveLength(1);
    expect(await session.data('tool.result')).toHaveLength(1);
    expect(await session.data('policy.decided')).toMatchObject([{ policy: 'stops/p0', decision: 'stop' }]);
  });
});

describe('H9 a decision adds little: what follows is asked along', () => {
  /** The seams that hook-policy is asked about while a session of this agent looks around, by command. */
  const questionsOf = async (agent: string): Promise<{ asked: Seam[][]; session: TestSession }> => {
    const asked: { session: string; seams: Seam[] }[] = [];
    const subscription = system.bus.nats.subscribe(subjects.work('hook', system.tenant), {
      callback: (_error, message) => {
        const { session, subject, following = [] } = message.json<HookCommand>();
        asked.push({ session, seams: [subject.seam, ...following.map((next) => next.subject.seam)] });
      },
    });
    const session = await create('lists', agent);
    expect(await session.prompt('look around')).toEqual(completed);
    subscription.unsubscribe();
    return { asked: asked.filter((one) => one.session === session.id).map((one) => one.seams), session };
  };
  const continues = ['turn-continuation', 'pre-step'];

  it('a step with a call is two questions, and a policy sees the same as if each were asked by itself', async () => {
    const { asked, session } = await questionsOf('quiet');
    expect(asked).toEqual([
      ['session-start'],
      ['prompt-submit'],
      ['pre-step'],
      ['pre-tool'],
      ['post-tool', ...continues],
      ['turn-continuation'],
    ]);
    expect(await session.data('step.start')).toHaveLength(2);
    const seen = conversations.get(session.id);
    expect(seen).toEqual([['user'], ['user', 'assistant', 'tool']]);
  });

  it('what changes something ends it: what follows then is asked anew', async () => {
    const { asked } = await questionsOf('adds');
    expect(asked.filter((seams) => seams[0] === 'post-tool')).toEqual([['post-tool', 'pre-step']]);
    expect(asked.filter((seams) => seams[0] === 'pre-step')).toHaveLength(2);
  });
});

describe('H5 what policies rewrite and take out', () => {
  it('two rewrites of a call, one of them redacting: both applied, original and effective recorded', async () => {
    const session = await create('logs-in', 'two-rewrites');
    expect(await session.prompt('log in')).toEqual(completed);
    expect(await session.data('tool.call')).toMatchObject([
      {
        arguments: '{"command":"echo the password is hunter2"}',
        effective: { command: 'echo the password is nothing', timeoutMs: 5_000 },
      },
    ]);
    expect(await session.data('policy.decided')).toMatchObject([
      { policy: 'two-rewrites/p0', decision: 'rewrite' },
      { policy: 'two-rewrites/p1', decision: 'rewrite' },
    ]);
    expect(JSON.stringify((await session.data('tool.result'))[0])).toContain('the password is nothing');
  });

  it('a result redacted by post-tool is in no event: not in the log, not in EVENTS, not in SQL', async () => {
    const session = await create('reads-a-secret', 'redacts-result');
    await session.prompt('read the key');
    expect(await readFile(join(system.workspace, 'key.txt'), 'utf8')).toContain('hunter2');
    expect(JSON.stringify(await session.events())).not.toContain('hunter2');
    const rows = await system.sql(`select type, data::text from events where session_id = '${session.id}'`);
    expect(rows.map(([type]) => type)).toContain('tool.result');
    expect(JSON.stringify(rows)).not.toContain('hunter2');
    const published = await consumeEvents(system.natsUrl, `evt.${system.tenant}.${session.id}.>`);
    expect(published).toHaveLength(rows.length);
    expect(JSON.stringify(published.map(({ value }) => value))).not.toContain('hunter2');
  });
});

describe('H8 a policy that changes while a session runs', () => {
  it('counts from the next call of the same step on, and no longer once it is removed', async () => {
    const store = await PolicyStore.open(system.bus);
    const session = await create('calls-two', 'changing');
    const { messageId } = await system.client.prompt(session.id, 'do both');
    await session.until('tool.call');
    await putPolicySet(
      store,
      set('changing', { seam: 'pre-tool', when: { tool: 'write_file' }, decide: { deny: 'no more' } }),
      'test',
    );
    await writeFile(join(system.workspace, 'go'), '');
    expect(await session.endOf(messageId)).toEqual(completed);
    expect(await session.data('tool.call')).toMatchObject([
      { name: 'bash', decision: 'allow', step: 1 },
      { name: 'write_file', decision: 'deny', step: 1 },
    ]);
    await store.remove('changing');
    expect(await session.prompt('do both again')).toEqual(completed);
    expect((await session.data('tool.call')).slice(2)).toMatchObject([{ decision: 'allow' }, { decision: 'allow' }]);
    expect((await session.data('policy.decided')).map(({ decision }) => decision)).toEqual(['deny']);
    store.close();
  });
});
