import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deriveMessages } from '@jetloop/session';
import { consumeEvents } from './support/external-consumer.js';
import { TestSystem } from './support/test-system.js';

const scripted = (script: unknown[]) => ({
  provider: 'scripted',
  dialect: 'scripted' as const,
  model: 'scripted',
  script: script as never,
});
const calls = (...toolCalls: { name: string; arguments?: unknown }[]) => ({ reply: { toolCalls } });

const targets = {
  talks: scripted([{ reply: { text: 'hello to you' } }]),
  'talks-slowly': scripted([
    { reply: { text: 'one two three four five six seven eight nine ten eleven twelve' }, pieceDelayMs: 400 },
  ]),
  'takes-its-time': scripted([{ reply: { text: 'done' }, delayMs: 400 }]),
  'never-stops': scripted([calls({ name: 'list_dir' })]),
  'writes-once': scripted([
    { match: { hasToolResult: true }, reply: { text: 'I went another way.' } },
    calls({ name: 'write_file', arguments: { path: 'denied.txt', content: 'x' } }),
  ]),
  sleeps: scripted([
    { match: { hasToolResult: true }, reply: { text: 'awake' } },
    calls({ name: 'bash', arguments: { command: 'echo started; sleep 60; echo late > late.txt' } }),
  ]),
  'calls-badly': scripted([
    { match: { hasToolResult: true }, reply: { text: 'I see.' } },
    calls(
      { name: 'no_such_tool', arguments: {} },
      { name: 'list_dir', arguments: '{"path":"." ' },
      { name: 'list_dir', arguments: '["."]' },
      { name: 'list_dir', arguments: 'null' },
      { name: 'list_dir', arguments: '{"path":".","path":".."}' },
      { name: 'read_file', arguments: { path: 'absent.txt' } },
      { name: 'list_dir', arguments: '' },
    ),
  ]),
  fails: scripted([{ error: { code: 'server_error', message: 'the provider is on fire', status: 500 } }]),
};

const guard = `
name: guard
agents: ['guarded*']
policies:
  - name: no-destruction
    seam: prompt-submit
    when: { prompt: { contains: destroy } }
    decide: { block: destructive prompts are not for agents }
  - name: no-names
    seam: prompt-submit
    when: { prompt: { contains: agent 47 } }
    decide: { redact: { patterns: ['agent 47'], with: '[somebody]' } }
  - name: no-writing
    seam: pre-tool
    when: { tool: write_file }
    decide: { deny: this folder is not for writing }
`;

describe('the agent loop on real services', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ targets, policies: [guard] });
  });
  afterAll(() => system.stop());
  const guarded = (target: string, more = {}) => system.create(target, { name: 'guarded', ...more });

  it('L1 an allowed prompt is recorded unchanged; the policy saw the original once', async () => {
    const questions: unknown[] = [];
    const spy = system.bus.nats.subscribe(`cmd.hook.${system.tenant}`, {
      callback: (_error, message) => {
        questions.push(message.json());
      },
    });
    const session = await guarded('talks');
    expect(await session.prompt('say hello')).toEqual({ kind: 'completed' });
    spy.unsubscribe();
    const content = [{ type: 'text', text: 'say hello' }];
    expect(questions).toMatchObject([{ session: session.id, subject: { seam: 'prompt-submit', content } }]);
    expect(await session.data('message.queued')).toMatchObject([{ content }]);
    expect(await session.data('user.message')).toMatchObject([{ content, source: { kind: 'user' } }]);
    expect(await session.data('policy.decided')).toEqual([]);
  });

  it('L2 a rewrite is what user.message and request 1 hold; the original stands only in message.queued', async () => {
    const session = await guarded('talks');
    await session.prompt('greet agent 47 from me');
    const events = await session.events();
    const holdsOriginal = events
      .filter((event) => JSON.stringify(event.data).includes('greet agent 47'))
      .map(({ type }) => type);
    expect(holdsOriginal).toEqual(['message.queued']);
    expect(await session.data('user.message')).toMatchObject([{ content: [{ text: 'greet [somebody] from me' }] }]);
    const step = events.findIndex(({ type }) => type === 'step.start');
    expect(deriveMessages(events.slice(0, step + 1))).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'greet [somebody] from me' }] },
    ]);
    expect(await session.data('policy.decided')).toMatchObject([{ policy: 'guard/no-names', decision: 'rewrite' }]);
  });

  it('L5 the only prompt blocked: no model call, a balanced turn, the reason once in the log and once in EVENTS', async () => {
    const session = await guarded('talks');
    const reason = 'destructive prompts are not for agents';
    expect(await session.prompt('destroy everything')).toEqual({ kind: 'rejected', reason });
    expect(await session.types()).toEqual([
      'session.created',
      'message.queued',
      'turn.start',
      'policy.decided',
      'prompt.blocked',
      'turn.end',
    ]);
    expect(await session.data('prompt.blocked')).toMatchObject([{ content: [{ text: 'destroy everything' }], reason }]);
    await system.sql('select 1');
    const subject = `evt.${system.tenant}.${session.id}.prompt.blocked`;
    const { state } = await system.bus.api<{ state: { subjects?: Record<string, number> } }>('STREAM.INFO.EVENTS', {
      subjects_filter: subject,
    });
    expect(state.subjects).toEqual({ [subject]: 1 });
  });

  it('L6 two queued prompts in one turn, one blocked: the other runs', async () => {
    const session = await guarded('takes-its-time');
    await system.client.prompt(session.id, 'first');
    await session.until('step.start');
    const bad = await system.client.prompt(session.id, 'destroy it');
    const good = await system.client.prompt(session.id, 'carry on');
    expect(await session.endOf(good.messageId)).toEqual({ kind: 'completed' });
    expect((await session.data('turn.start'))[1]).toMatchObject({
      turn: 2,
      messageIds: [bad.messageId, good.messageId],
    });
    expect(await session.data('prompt.blocked')).toMatchObject([
      { turn: 2, messageId: bad.messageId, content: [{ text: 'destroy it' }] },
    ]);
    expect((await session.data('user.message')).filter(({ turn }) => turn === 2)).toMatchObject([
      { content: [{ text: 'carry on' }] },
    ]);
  });

  it('L15 a call denied by name never ran, the reason is in its result, and the loop goes on', async () => {
    const session = await guarded('writes-once', { tools: ['write_file'] });
    expect(await session.prompt('write it down')).toEqual({ kind: 'completed' });
    await expect(readFile(join(system.workspace, 'denied.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await session.data('tool.call')).toMatchObject([{ name: 'write_file', decision: 'deny' }]);
    const [result] = await session.data('tool.result');
    expect(result).toMatchObject({ isError: true, error: { code: 'denied' } });
    expect(JSON.stringify(result?.content)).toContain('this folder is not for writing');
    expect(await session.data('policy.decided')).toMatchObject([
      { seam: 'pre-tool', policy: 'guard/no-writing', decision: 'deny' },
    ]);
    expect(await session.data('step.start')).toHaveLength(2);
  });

  it('L18 unknown tools, bad arguments and failing tools are error results, and empty arguments mean {}', async () => {
    await writeFile(join(system.workspace, 'there.txt'), 'here');
    const session = await system.create('calls-badly', { tools: ['*'] });
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    const results = (await session.data('tool.result')).sort((a, b) => a.n - b.n);
    expect(results.map(({ isError, error }) => (isError ? error?.code : 'ok'))).toEqual([
      'unknown_tool',
      'invalid_arguments',
      'invalid_arguments',
      'invalid_arguments',
      'invalid_arguments',
      'not_found',
      'ok',
    ]);
    const effective = (await session.data('tool.call')).sort((a, b) => a.n - b.n).map((call) => call.effective);
    expect(effective.slice(0, 5)).toEqual([null, null, null, null, null]);
    expect(effective[6]).toEqual({});
    expect(await session.data('turn.error')).toEqual([]);
    expect((await session.data('assistant.message')).map(({ finishReason }) => finishReason)).toEqual([
      'tool-calls',
      'stop',
    ]);
  });

  it('L28 the simplest turn is exactly eight events', async () => {
    const session = await system.create('talks');
    await session.prompt('hello');
    expect(await session.types()).toEqual([
      'session.created',
      'message.queued',
      'turn.start',
      'user.message',
      'step.start',
      'assistant.message',
      'step.end',
      'turn.end',
    ]);
  });

  it('L29 prompts one after another give turns 1..n; a burst while a turn runs gives one next turn, in order', async () => {
    const session = await system.create('takes-its-time');
    for (const text of ['a', 'b', 'c']) await session.prompt(text);
    expect((await session.data('turn.start')).map(({ turn }) => turn)).toEqual([1, 2, 3]);
    await system.client.prompt(session.id, 'd');
    await session.until('step.start', 4);
    const burst = [];
    for (const text of ['e', 'f', 'g', 'h']) burst.push(await system.client.prompt(session.id, text));
    await session.endOf(burst[3]!.messageId);
    expect((await session.data('turn.start')).slice(4)).toMatchObject([
      { turn: 5, messageIds: burst.map(({ messageId }) => messageId) },
    ]);
    const last = (await session.data('user.message')).filter(({ turn }) => turn === 5);
    expect(last.map(({ content }) => content)).toEqual(['e', 'f', 'g', 'h'].map((text) => [{ type: 'text', text }]));
  });

  it('L31 maxSteps 2 with a model that never stops: two model calls, two executed rounds; maxSteps 0: no model call', async () => {
    const two = await system.create('never-stops', { tools: ['list_dir'], limits: { maxSteps: 2 } });
    expect(await two.prompt('go')).toEqual({ kind: 'max-steps' });
    expect(await two.data('assistant.message')).toHaveLength(2);
    expect((await two.data('tool.result')).map(({ isError }) => isError)).toEqual([false, false]);
    const none = await system.create('never-stops', { tools: ['list_dir'], limits: { maxSteps: 0 } });
    expect(await none.prompt('go')).toEqual({ kind: 'max-steps' });
    expect(await none.data('step.start')).toEqual([]);
  });

  it('a failing model call ends its turn, not its session', async () => {
    const session = await system.create('fails');
    expect(await session.prompt('one')).toEqual({
      kind: 'error',
      step: 1,
      code: 'server_error',
      message: 'the provider is on fire',
    });
    expect(await session.prompt('two')).toMatchObject({ kind: 'error' });
    expect(await session.data('turn.error')).toHaveLength(2);
  });

  it('a cancel while the model streams keeps what was said, ends the turn at once, and the next prompt runs', async () => {
    const session = await system.create('talks-slowly');
    const said = new Promise<void>((resolve) => {
      const stop = system.client.live(
        session.id,
        () => {
          stop();
          resolve();
        },
        'delta',
      );
    });
    const { messageId } = await system.client.prompt(session.id, 'count');
    await said;
    const before = Date.now();
    await system.client.cancel(session.id, { reason: 'enough' });
    expect(await session.endOf(messageId)).toEqual({ kind: 'aborted', reason: 'enough' });
    expect(Date.now() - before).toBeLessThan(2_000);
    expect(await session.data('assistant.message')).toMatchObject([
      { finishReason: 'aborted', usage: { estimated: 'aborted' } },
    ]);
    expect(await session.data('turn.error')).toEqual([]);
    const next = await system.client.prompt(session.id, 'again');
    await session.until('step.start', 2);
    await system.client.cancel(session.id);
    expect(await session.endOf(next.messageId)).toMatchObject({ kind: 'aborted' });
  });

  it('a cancel in a tool kills it, and its call has a result', async () => {
    const session = await system.create('sleeps', { tools: ['bash'] });
    const { messageId } = await system.client.prompt(session.id, 'sleep');
    await session.until('tool.call');
    await system.client.cancel(session.id);
    expect(await session.endOf(messageId)).toEqual({ kind: 'aborted', reason: 'cancelled' });
    expect(await session.data('tool.result')).toMatchObject([{ isError: true }]);
    await expect(readFile(join(system.workspace, 'late.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('commands that cannot be carried out are refused with a code and what was expected', async () => {
    await expect(system.client.prompt('nobody-knows-it', 'hello')).rejects.toMatchObject({ code: 'not_found' });
    const session = await system.create('talks');
    const agent = { spec: { name: 'talks', model: { chain: ['talks'] } } };
    await expect(system.client.create({ session: session.id, agent })).rejects.toMatchObject({ code: 'conflict' });
    await expect(system.client.create({ agent, workspace: '/etc' })).rejects.toMatchObject({ code: 'invalid' });
    await expect(system.client.create({ agent: { name: 'unheard-of' } })).rejects.toMatchObject({ code: 'not_found' });
    await system.client.prompt(session.id, 'one', { messageId: 'm1' });
    await expect(system.client.prompt(session.id, 'other', { messageId: 'm1' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('SQL holds what the log holds: session, turns, messages, calls and attempts', async () => {
    const session = await guarded('writes-once', { tools: ['write_file'] });
    await session.prompt('write it down');
    const where = `tenant = '${system.tenant}' and session_id = '${session.id}'`;
    expect(await system.sql(`select status, turns, steps from sessions where ${where}`)).toEqual([['idle', 1, 2]]);
    expect(await system.sql(`select count(*)::int from events where ${where}`)).toEqual([
      [(await session.events()).length],
    ]);
    expect(await system.sql(`select name, decision, is_error, error_code from tool_calls where ${where}`)).toEqual([
      ['write_file', 'deny', true, 'denied'],
    ]);
    expect(await system.sql(`select role from messages where ${where} order by seq`)).toEqual([
      ['user'],
      ['assistant'],
      ['assistant'],
    ]);
    expect(await system.sql(`select target, outcome, why from model_attempts where ${where} order by step`)).toEqual([
      ['writes-once', 'ok', 'primary'],
      ['writes-once', 'ok', 'primary'],
    ]);
    expect(await system.sql(`select policy, decision, reason from policy_decisions where ${where}`)).toEqual([
      ['guard/no-writing', 'deny', 'this folder is not for writing'],
    ]);
  });

  it('a plain consumer of evt.<tenant>.*.tool.> gets the tool events of every session, in order', async () => {
    const session = await system.create('never-stops', { tools: ['list_dir'], limits: { maxSteps: 2 } });
    await session.prompt('go');
    await system.sql('select 1');
    const seen = await consumeEvents(system.natsUrl, `evt.${system.tenant}.*.tool.>`);
    const mine = seen
      .filter(({ subject }) => subject.includes(`.${session.id}.`))
      .map(({ value }) => value as { type: string; sequence: number });
    expect(mine.map(({ type }) => type)).toEqual([
      'jetloop.tool.call',
      'jetloop.tool.result',
      'jetloop.tool.call',
      'jetloop.tool.result',
    ]);
    const sequences = mine.map(({ sequence }) => sequence);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  });
});
