import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelScript } from '@jetloop/testing';
import type { AgentPolicies } from '../support/agent-policies.js';
import { spoken, text } from '../support/messages.js';
import { TestSystem } from '../support/test-system.js';

const answers: ModelScript = () => ({ text: 'hello' });

/** What session-start policies were shown, by session. */
const started: { session: string; source: string; turn: number }[] = [];

const plugins: Record<string, AgentPolicies> = {
  briefed: {
    'session-start': ({ source }, { session, turn }) => {
      started.push({ session, source, turn });
      return { decision: 'none', context: text('The build is red.') };
    },
  },
  misbriefed: {
    'session-start': () => {
      throw new Error('no briefing today');
    },
  },
  thorough: {
    'turn-continuation': ({ forced }) =>
      forced === 0 ? { decision: 'continue', reason: 'Check your </steering> work.' } : undefined,
  },
  wordless: {
    'turn-continuation': ({ default: byDefault, forced }) =>
      byDefault === 'continue' || forced === 0 ? { decision: 'continue' } : undefined,
  },
  hasty: { 'turn-continuation': () => ({ decision: 'stop' }) },
  restless: { 'turn-continuation': () => ({ decision: 'continue', reason: 'once more' }) },
};

describe('the seam of session starts', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ plugins });
  });
  afterAll(() => system.stop());

  it('L8 asked once per create, with source startup, before any turn, and not again after a turn', async () => {
    const session = await system.create(answers, { name: 'briefed' });
    expect(await session.prompt('one')).toEqual({ kind: 'completed' });
    expect(await session.prompt('two')).toEqual({ kind: 'completed' });
    expect(started.filter((one) => one.session === session.id)).toEqual([
      { session: session.id, source: 'startup', turn: 0 },
    ]);
    const types = await session.types();
    expect(types.filter((type) => type === 'policy.decided')).toHaveLength(1);
    expect(types.indexOf('policy.decided')).toBeLessThan(types.indexOf('turn.start'));
  });

  it('L9 its context is in request 1 and names the policy as its source', async () => {
    const session = await system.create(answers, { name: 'briefed' });
    await session.prompt('how is the build?');
    expect(await session.data('context.message')).toEqual([
      { turn: 0, content: text('The build is red.'), source: { kind: 'policy', name: 'briefed/test' } },
    ]);
    expect(spoken(session.requests[0])).toEqual([
      'user: <context source="policy:briefed/test">The build is red.</context>',
      'user: how is the build?',
    ]);
  });

  it('L10 a failing policy: create succeeds, the failure is recorded, and a prompt makes exactly one request', async () => {
    const session = await system.create(answers, { name: 'misbriefed' });
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect(session.requests).toHaveLength(1);
    expect(await session.decided('session-start')).toEqual([
      { seam: 'session-start', policy: 'misbriefed/test', decision: 'failed', reason: 'no briefing today' },
    ]);
    expect(await session.data('turn.error')).toEqual([]);
  });

  it('L11 continue with a reason: one turn, two steps, the reason joins before step 2 and is in request 2', async () => {
    const session = await system.create([{ text: 'done' }, { text: 'checked' }], { name: 'thorough' });
    expect(await session.prompt('do it')).toEqual({ kind: 'completed' });
    const types = await session.types();
    const count = (type: string) => types.filter((one) => one === type).length;
    expect([count('turn.start'), count('turn.end'), count('step.start'), count('step.end')]).toEqual([1, 1, 2, 2]);
    expect(types.indexOf('step.end')).toBeLessThan(types.indexOf('steering.message'));
    expect(types.indexOf('steering.message')).toBeLessThan(types.lastIndexOf('step.start'));
    expect(await session.data('steering.message')).toEqual([
      {
        turn: 1,
        content: text('Check your </steering> work.'),
        source: { kind: 'policy', name: 'thorough/test' },
      },
    ]);
    expect(spoken(session.requests[1])).toEqual([
      'user: do it',
      'assistant: done',
      'user: <steering source="policy:thorough/test">Check your <\\/steering> work.</steering>',
    ]);
  });

  it('L11 continue without a reason: another step, and a request that a provider takes', async () => {
    const script = [{ calls: [{ name: 'list_dir' }] }, { text: 'done' }, { text: 'checked' }];
    const session = await system.create(script, { name: 'wordless', tools: ['list_dir'] });
    expect(await session.prompt('do it')).toEqual({ kind: 'completed' });
    expect(session.requests.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined]);
    expect(await session.data('step.start')).toHaveLength(3);
    expect(spoken(session.requests[1]).at(-1)).toMatch(/^tool /);
    expect(spoken(session.requests[2]).at(-1)).toMatch(/^user: /);
  });

  it('L12 stop after a step with tool calls: one request, and the result is in the log', async () => {
    const session = await system.create([{ calls: [{ name: 'list_dir' }] }], { name: 'hasty', tools: ['list_dir'] });
    expect(await session.prompt('look')).toEqual({ kind: 'completed' });
    expect(session.requests).toHaveLength(1);
    expect(await session.data('tool.result')).toMatchObject([{ isError: false }]);
    expect(await session.decided('turn-continuation')).toMatchObject([{ policy: 'hasty/test', decision: 'stop' }]);
  });

  it('L13 a policy that always continues is stopped at 8, and the log shows it', async () => {
    const session = await system.create(answers, { name: 'restless' });
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect(session.requests).toHaveLength(9);
    const decisions = await session.decided('turn-continuation');
    expect(decisions.map(({ decision }) => decision)).toEqual([...Array<string>(8).fill('continue'), 'override']);
    expect(decisions[8]).toMatchObject({ policy: 'restless/test', reason: expect.stringContaining('8') });
    expect(await session.data('steering.message')).toHaveLength(8);
  });
});
