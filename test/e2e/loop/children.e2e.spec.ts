import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isRunning } from '../support/acp/is-running.js';
import { gate, within } from '../support/gate.js';
import { spoken } from '../support/messages.js';
import { TestSystem } from '../support/test-system.js';

const spawn = (agent: string, prompt: string, more: object = {}) => ({
  calls: [{ name: 'spawn_agent', arguments: { agent, prompt, ...more } }],
});
const USAGE = { input: 100, output: 20 };

describe('agents that start agents', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start();
  });
  afterAll(() => system.stop());

  it('L43 the answer of a child comes back as the result of its call', async () => {
    const worker = await system.putAgent('adder', [{ text: '5' }]);
    const session = await system.create([spawn('adder', 'add 2 and 3'), { text: 'It is 5.' }], {
      tools: ['spawn_agent'],
    });
    expect(await session.prompt('what is 2 + 3?')).toEqual({ kind: 'completed' });
    const [result] = await session.data('tool.result');
    expect(result).toMatchObject({ isError: false, content: [{ type: 'text', text: '5' }] });
    const child = system.session(`${session.id}_1_1_0`, worker);
    expect(result?.child).toMatchObject({ session: child.id, usage: { input: 10, output: 5 } });
    expect(spoken(child.requests[0])).toEqual(['user: add 2 and 3']);
    expect(spoken(session.requests[1]).at(-1)).toBe('tool call_1_0: 5');
    expect(await child.data('session.created')).toMatchObject([
      { parent: { session: session.id, callId: 'call_1_0' }, source: 'startup' },
    ]);
    expect((await child.types()).at(-1)).toBe('session.closed');
  });

  it('L43 three levels: each answer goes up one', async () => {
    await system.putAgent('level-3', [{ text: 'from the bottom' }]);
    await system.putAgent('level-2', [spawn('level-3', 'dig'), { text: 'middle heard' }], { tools: ['spawn_agent'] });
    const session = await system.create([spawn('level-2', 'go down'), { text: 'top heard' }], {
      tools: ['spawn_agent'],
    });
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect(await session.data('tool.result')).toMatchObject([
      { isError: false, content: [{ text: 'middle heard' }], child: { usage: { input: 30, output: 15 } } },
    ]);
  });

  it('L43 the parent is cancelled: the child and its child end, and their models stop', async () => {
    const reached = gate();
    const bottom = await system.putAgent('endless-3', () => {
      reached.open();
      return { after: new Promise(() => undefined) };
    });
    await system.putAgent('endless-2', [spawn('endless-3', 'wait')], { tools: ['spawn_agent'] });
    const session = await system.create([spawn('endless-2', 'wait')], { tools: ['spawn_agent'] });
    const end = await session.begin('go');
    await reached.opened;
    const child = system.session(`${session.id}_1_1_0`, '');
    const grandchild = system.session(`${child.id}_1_1_0`, bottom);
    await system.client.cancel(session.id);
    await within(3_000, grandchild.requests[0]?.aborted);
    expect(await within(4_000, end())).toEqual({ kind: 'aborted', reason: 'cancelled' });
    for (const below of [child, grandchild]) {
      await below.until('session.closed');
      expect((await below.data('turn.end')).map(({ reason }) => reason.kind)).toEqual(['aborted']);
    }
  });

  it('L43 a child that never ends: its deadline gives outcome_unknown, the parent goes on, and the child is ended', async () => {
    await system.putAgent('sleeper', () => ({ after: new Promise(() => undefined) }));
    const session = await system.create(
      [spawn('sleeper', 'sleep', { deadlineMs: 400 }), { text: 'without it, then' }],
      {
        tools: ['spawn_agent'],
      },
    );
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'outcome_unknown' } }]);
    const child = system.session(`${session.id}_1_1_0`, '');
    await child.until('session.closed');
    expect(session.requests).toHaveLength(2);
  });

  it('L43 a child that fails, and one whose agent nobody knows: the model is told, and the turn goes on', async () => {
    await system.putAgent('unlucky', [{ error: { status: 500, message: 'no luck' } }]);
    const calls = [...spawn('unlucky', 'try').calls, ...spawn('nobody', 'try').calls];
    const session = await system.create([{ calls }, { text: 'I see' }], { tools: ['spawn_agent'] });
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect((await session.data('tool.result')).map(({ error }) => error?.code)).toEqual([
      'child_error',
      'child_refused',
    ]);
    expect(spoken(session.requests[1]).at(-1)).toContain('nobody');
  });

  it('L34 children count: what one used and what it holds is taken from its parent', async () => {
    await system.putAgent('greedy', () => ({ calls: [{ name: 'list_dir' }], usage: USAGE }), { tools: ['list_dir'] });
    const session = await system.create(
      [
        { ...spawn('greedy', 'eat'), usage: USAGE },
        { text: 'one more', usage: USAGE },
      ],
      { tools: ['spawn_agent'], budgets: { tokens: 600 } },
    );
    // 120 used, 480 left, half of that is the child's: it makes two calls of 120 tokens, and no third.
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect(await session.data('tool.call')).toMatchObject([{ reserved: { tokens: 240 } }]);
    expect(await session.data('tool.result')).toMatchObject([
      { isError: true, error: { code: 'child_budget_exceeded' }, child: { usage: { input: 200, output: 40 } } },
    ]);
    // 120 + 240 + 120 = 480: one more call fits, and none after it.
    const session2 = await system.create([{ ...spawn('greedy', 'eat'), usage: { input: 500, output: 90 } }], {
      tools: ['spawn_agent'],
      budgets: { tokens: 600 },
    });
    expect(await session2.prompt('go')).toEqual({ kind: 'budget-exceeded' });
    expect(session2.requests).toHaveLength(1);
  });

  it('L34 two children at once: each holds its part, of tokens and of cost', async () => {
    const priced = { prices: { input: 10, output: 10 } };
    const each = { budget: { tokens: 240, cost: 0.002_4 } };
    await system.putAgent(
      'eater',
      () => ({ calls: [{ name: 'list_dir' }], usage: USAGE }),
      { tools: ['list_dir'] },
      priced,
    );
    const calls = [...spawn('eater', 'eat', each).calls, ...spawn('eater', 'eat', each).calls];
    for (const budgets of [{ tokens: 600 }, { cost: 0.006 }]) {
      // 120 tokens, 0.0012 USD a call: one of the parent, two of each child, and then nothing is left.
      const model = system.model(
        [
          { calls, usage: USAGE },
          { text: 'one more', usage: USAGE },
        ],
        priced,
      );
      const session = await system.create(model, { tools: ['spawn_agent'], budgets });
      expect(await session.prompt('go')).toEqual({ kind: 'budget-exceeded' });
      expect((await session.data('tool.result')).map(({ child, error }) => [child?.usage, error?.code])).toMatchObject(
        [0, 1].map(() => [{ input: 200, output: 40 }, 'child_budget_exceeded']),
      );
      expect(session.requests).toHaveLength(1);
    }
  });

  it("L43 the parent is cancelled: the process of its child's tool is killed", async () => {
    await system.putAgent(
      'busy',
      [{ calls: [{ name: 'bash', arguments: { command: 'echo $$ > busy.pid; sleep 300' } }] }],
      {
        tools: ['bash'],
      },
    );
    const session = await system.create([spawn('busy', 'work')], { tools: ['spawn_agent'] });
    const end = await session.begin('go');
    const pid = async () => Number(await readFile(join(system.workspace, 'busy.pid'), 'utf8').catch(() => ''));
    while ((await pid()) === 0) await sleep(20);
    const tool = await pid();
    await system.client.cancel(session.id);
    expect(await end()).toEqual({ kind: 'aborted', reason: 'cancelled' });
    const deadline = performance.now() + 20_000;
    while ((await isRunning(tool)) && performance.now() < deadline) await sleep(20);
    expect(await isRunning(tool)).toBe(false);
  });
});
