import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DerivedMessage } from '@jetloop/contracts';
import type { ModelScript } from '@jetloop/testing';
import type { AgentPolicies } from '../support/agent-policies.js';
import { gate } from '../support/gate.js';
import { spoken, text } from '../support/messages.js';
import { TestSystem } from '../support/test-system.js';

const answers: ModelScript = () => ({ text: 'hello to you' });
const reason = 'destructive prompts are not for agents';

/** What policies were shown, by session. */
const shown: { session: string; content: unknown }[] = [];
const beforeStep: { session: string; step: number; messages: readonly DerivedMessage[] }[] = [];

const plugins: Record<string, AgentPolicies> = {
  watched: {
    'prompt-submit': ({ content }, { session }) => {
      shown.push({ session, content });
      return undefined;
    },
  },
  guarded: {
    'prompt-submit': ({ content }) => {
      const said = JSON.stringify(content);
      if (said.includes('destroy')) return { decision: 'block', reason };
      if (said.includes('break')) throw new Error('the policy is out of order');
      if (said.includes('agent 47')) {
        return { decision: 'allow', content: text('greet [somebody] from me'), context: text('Mind your manners.') };
      }
      return undefined;
    },
    'pre-step': async ({ messages }, { session, step }) => {
      beforeStep.push({ session, step, messages: await messages() });
      return undefined;
    },
  },
};

describe('the seam of prompts', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ plugins });
  });
  afterAll(() => system.stop());
  const guarded = (script: ModelScript = answers) => system.create(script, { name: 'guarded' });

  it('L1 an allowed prompt is recorded unchanged; the policy saw the original exactly once', async () => {
    const session = await system.create(answers, { name: 'watched' });
    expect(await session.prompt('say hello')).toEqual({ kind: 'completed' });
    const content = text('say hello');
    expect(shown).toEqual([{ session: session.id, content }]);
    expect(await session.data('message.queued')).toMatchObject([{ content }]);
    expect(await session.data('user.message')).toMatchObject([{ content, source: { kind: 'user' } }]);
    expect(await session.data('policy.decided')).toEqual([]);
    expect(session.requests.map(spoken)).toEqual([['user: say hello']]);
  });

  it('L2 a rewrite is what user.message and request 1 hold; the original stands only in message.queued', async () => {
    const session = await guarded();
    await session.prompt('greet agent 47 from me');
    const events = await session.events();
    const holdsOriginal = events.filter((event) => JSON.stringify(event).includes('agent 47')).map(({ type }) => type);
    expect(holdsOriginal).toEqual(['message.queued']);
    expect(await session.data('user.message')).toMatchObject([{ content: text('greet [somebody] from me') }]);
    expect(session.requests).toHaveLength(1);
    expect(spoken(session.requests[0])[0]).toBe('user: greet [somebody] from me');
    expect(JSON.stringify(session.requests)).not.toContain('agent 47');
    expect(await session.data('policy.decided')).toMatchObject([{ policy: 'guarded/test', decision: 'rewrite' }]);
  });

  it('L3 added context is a context.message of its own behind the prompt, with its source, and in request 1', async () => {
    const session = await guarded();
    await session.prompt('greet agent 47 from me');
    const types = await session.types();
    expect(types[types.indexOf('user.message') + 1]).toBe('context.message');
    expect(await session.data('context.message')).toEqual([
      { turn: 1, content: text('Mind your manners.'), source: { kind: 'policy', name: 'guarded/test' } },
    ]);
    expect(spoken(session.requests[0])).toEqual([
      'user: greet [somebody] from me',
      'user: <context source="policy:guarded/test">Mind your manners.</context>',
    ]);
  });

  it('L4 pre-step of step 1 sees the rewrite and the context, and not the original', async () => {
    const session = await guarded();
    await session.prompt('greet agent 47 from me');
    const seen = beforeStep.filter((one) => one.session === session.id);
    expect(seen.map(({ step }) => step)).toEqual([1]);
    const said = JSON.stringify(seen[0]?.messages);
    expect(said).toContain('greet [somebody] from me');
    expect(said).toContain('Mind your manners.');
    expect(said).not.toContain('agent 47');
  });

  it('L5 the only prompt blocked: no model call, a balanced turn, the reason once in the log and once in EVENTS', async () => {
    const session = await guarded();
    expect(await session.prompt('destroy everything')).toEqual({ kind: 'rejected', reason });
    expect(await session.types()).toEqual([
      'session.created',
      'message.queued',
      'turn.start',
      'policy.decided',
      'prompt.blocked',
      'turn.end',
    ]);
    expect(await session.data('prompt.blocked')).toMatchObject([{ content: text('destroy everything'), reason }]);
    expect(session.requests).toEqual([]);
    await system.sql('select 1');
    const subject = `evt.${system.tenant}.${session.id}.prompt.blocked`;
    const { state } = await system.bus.api<{ state: { subjects?: Record<string, number> } }>('STREAM.INFO.EVENTS', {
      subjects_filter: subject,
    });
    expect(state.subjects).toEqual({ [subject]: 1 });
  });

  it('L6 two queued prompts in one turn, one blocked: the other runs', async () => {
    const release = gate();
    const session = await guarded((_request, n) => ({ text: 'done', ...(n === 1 ? { after: release.opened } : {}) }));
    await system.client.prompt(session.id, 'first');
    await session.until('step.start');
    const bad = await system.client.prompt(session.id, 'destroy it');
    const good = await system.client.prompt(session.id, 'carry on');
    release.open();
    expect(await session.endOf(good.messageId)).toEqual({ kind: 'completed' });
    expect((await session.data('turn.start'))[1]).toMatchObject({
      turn: 2,
      messageIds: [bad.messageId, good.messageId],
    });
    expect(await session.data('prompt.blocked')).toMatchObject([
      { turn: 2, messageId: bad.messageId, content: text('destroy it'), reason },
    ]);
    const passed = (await session.data('user.message')).filter(({ turn }) => turn === 2);
    expect(passed.map(({ content }) => content)).toEqual([text('carry on')]);
    expect(session.requests).toHaveLength(2);
  });

  it('L7 a failing policy: one turn.error with its message, one turn, and the next prompt runs', async () => {
    const session = await guarded();
    const message = 'Policy guarded/test failed: the policy is out of order';
    expect(await session.prompt('break it')).toEqual({ kind: 'error', step: 0, code: 'crash', message });
    expect(await session.data('turn.error')).toEqual([
      { turn: 1, step: 0, error: { name: 'Crash', code: 'crash', message } },
    ]);
    const types = await session.types();
    expect(types.filter((type) => type === 'turn.start' || type === 'turn.end')).toEqual(['turn.start', 'turn.end']);
    expect(session.requests).toEqual([]);
    expect(await session.prompt('say hello')).toEqual({ kind: 'completed' });
    expect(session.requests).toHaveLength(1);
  });
});
