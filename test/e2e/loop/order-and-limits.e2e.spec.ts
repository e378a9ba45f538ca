import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelScript } from '@jetloop/testing';
import type { AgentPolicies } from '../support/agent-policies.js';
import { gate } from '../support/gate.js';
import { spoken, text } from '../support/messages.js';
import { TestSystem } from '../support/test-system.js';

const answers: ModelScript = () => ({ text: 'hello' });
const lists: ModelScript = () => ({ calls: [{ name: 'list_dir' }] });
const USAGE = { input: 100, output: 20 };

const plugins: Record<string, AgentPolicies> = {
  insistent: {
    'turn-continuation': ({ default: byDefault, forced }) =>
      byDefault === 'stop' && forced === 0 ? { decision: 'continue', reason: 'go on' } : undefined,
  },
};

describe('the order of a turn, and its limits', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ plugins });
  });
  afterAll(() => system.stop());

  it('L28 the simplest turn is exactly eight events', async () => {
    const session = await system.create(answers);
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
    const release = gate();
    const session = await system.create((_request, n) => ({
      text: 'done',
      ...(n === 4 ? { after: release.opened } : {}),
    }));
    for (const prompt of ['a', 'b', 'c']) await session.prompt(prompt);
    expect((await session.data('turn.start')).map(({ turn }) => turn)).toEqual([1, 2, 3]);
    await system.client.prompt(session.id, 'd');
    await session.until('step.start', 4);
    const prompts = ['e', 'f', 'g', 'h'];
    const sent = await Promise.all(prompts.map((prompt) => system.client.prompt(session.id, prompt)));
    const burst = sent.map(({ messageId }) => messageId);
    release.open();
    await session.endOf(burst[3] ?? '');
    expect((await session.data('turn.start')).slice(4)).toMatchObject([{ turn: 5, messageIds: burst }]);
    const last = (await session.data('user.message')).filter(({ turn }) => turn === 5);
    expect(last.map(({ content }) => content)).toEqual(prompts.map(text));
    expect(spoken(session.requests[4]).slice(-4)).toEqual(prompts.map((prompt) => `user: ${prompt}`));
  });

  it('L30 steering during a tool is logged before that step ends, a continuation reason between the two steps', async () => {
    const command = 'until [ -e steered ]; do sleep 0.05; done; rm steered';
    const session = await system.create(
      [{ calls: [{ name: 'bash', arguments: { command } }] }, { text: 'turned' }, { text: 'gone on' }],
      { name: 'insistent', tools: ['bash', 'write_file'] },
    );
    const end = await session.begin('go');
    await session.until('tool.call');
    await system.client.steer(session.id, 'to the left');
    await system.touch('steered');
    expect(await end()).toEqual({ kind: 'completed' });
    const shape = (await session.types()).filter((type) => /^(step|steering|tool)\./.test(type));
    expect(shape).toEqual([
      'step.start',
      'tool.call',
      'tool.result',
      'steering.message',
      'step.end',
      'step.start',
      'step.end',
      'steering.message',
      'step.start',
      'step.end',
    ]);
    expect((await session.data('steering.message')).map(({ source, content }) => [source.kind, content])).toEqual([
      ['user', text('to the left')],
      ['policy', text('go on')],
    ]);
    expect(spoken(session.requests[1]).at(-1)).toBe('user: <steering source="user">to the left</steering>');
  });

  it('L31 maxSteps 2 with a model that never stops: two model calls, two executed rounds; maxSteps 0: no model call', async () => {
    const two = await system.create(lists, { tools: ['list_dir'], limits: { maxSteps: 2 } });
    expect(await two.prompt('go')).toEqual({ kind: 'max-steps' });
    expect(two.requests).toHaveLength(2);
    expect((await two.data('tool.result')).map(({ isError }) => isError)).toEqual([false, false]);
    const none = await system.create(lists, { tools: ['list_dir'], limits: { maxSteps: 0 } });
    expect(await none.prompt('go')).toEqual({ kind: 'max-steps' });
    expect(await none.data('step.start')).toEqual([]);
    expect(none.requests).toEqual([]);
  });

  it('L32 max-tokens with only a tool call: no tool ran; with text beside it: the text is kept', async () => {
    const call = { name: 'write_file', arguments: { path: 'cut.txt', content: 'x' } };
    for (const said of [undefined, 'I will write']) {
      const session = await system.create(
        [{ ...(said === undefined ? {} : { text: said }), calls: [call], finish: 'length' }, { text: 'sorry' }],
        { tools: ['write_file'] },
      );
      expect(await session.prompt('write')).toEqual({ kind: 'max-tokens' });
      expect(await session.data('tool.call')).toMatchObject([{ name: 'write_file' }]);
      expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'not_run' } }]);
      expect(await system.holds('cut.txt')).toBe(false);
      expect(session.requests).toHaveLength(1);
      expect(await session.prompt('and?')).toEqual({ kind: 'completed' });
      expect(spoken(session.requests[1])[1]).toMatch(
        said === undefined ? /^assistant: write_file/ : /^assistant: I will write write_file/,
      );
    }
  });

  it('L33 an early max-tokens step wins over a later clean one, and does not leak into the next turn', async () => {
    const session = await system.create(
      [{ text: 'I was cut', finish: 'length' }, { text: 'now whole' }, { text: 'a new turn' }, { text: 'and on' }],
      { name: 'insistent' },
    );
    expect(await session.prompt('tell me')).toEqual({ kind: 'max-tokens' });
    expect(await session.data('step.start')).toHaveLength(2);
    expect(await session.prompt('again')).toEqual({ kind: 'completed' });
  });

  it('L34 a budget of 0 refuses before the first call; an overshoot is at most one call', async () => {
    const tokens = { name: 'helper', tools: ['list_dir'] };
    const target = { prices: { input: 10, output: 10 } };
    for (const budgets of [{ tokens: 0 }, { cost: 0 }]) {
      const session = await system.create(system.model(answers, target), { ...tokens, budgets });
      expect(await session.prompt('go')).toEqual({ kind: 'budget-exceeded' });
      expect(session.requests).toEqual([]);
    }
    const greedy: ModelScript = () => ({ calls: [{ name: 'list_dir' }], usage: USAGE });
    // 120 tokens, 0.0012 USD a call: the third is the first that is not made.
    for (const budgets of [{ tokens: 121 }, { cost: 0.001_3 }]) {
      const session = await system.create(system.model(greedy, target), { ...tokens, budgets });
      expect(await session.prompt('go')).toEqual({ kind: 'budget-exceeded' });
      expect(session.requests).toHaveLength(2);
      expect(await session.prompt('more')).toEqual({ kind: 'budget-exceeded' });
      expect(session.requests).toHaveLength(2);
    }
  });

  it('L34 an unknown price makes a cost budget refuse', async () => {
    const session = await system.create(answers, { budgets: { cost: 1 } });
    expect(await session.prompt('one')).toEqual({ kind: 'completed' });
    expect(await session.prompt('two')).toMatchObject({ kind: 'error', code: 'price_unknown' });
    expect(session.requests).toHaveLength(1);
  });

  it('a failing model call ends its turn, not its session', async () => {
    const error = { status: 500, message: 'the provider is on fire' };
    const session = await system.create([{ error }, { text: 'all well' }]);
    expect(await session.prompt('one')).toEqual({
      kind: 'error',
      step: 1,
      code: 'server_error',
      message: 'the provider is on fire',
    });
    expect(await session.prompt('two')).toEqual({ kind: 'completed' });
    expect(await session.data('turn.error')).toHaveLength(1);
  });
});
