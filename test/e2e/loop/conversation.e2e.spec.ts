import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deriveMessages } from '@jetloop/session';
import type { AgentPolicies } from '../support/agent-policies.js';
import { gate, within } from '../support/gate.js';
import { asksForSummary, spoken, spokenIn, text } from '../support/messages.js';
import { TestSystem } from '../support/test-system.js';

const long = 'word '.repeat(2_000).trim();

const plugins: Record<string, AgentPolicies> = {
  asking: { 'pre-tool': () => ({ decision: 'ask', question: 'really?' }) },
  frugal: {
    'pre-step': ({ estimatedTokens }) => (estimatedTokens > 1_500 ? { decision: 'compact' } : undefined),
  },
};

describe('a conversation that is forked or compacted', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ plugins });
  });
  afterAll(() => system.stop());

  it('L36 fork at any event boundary: the conversation so far, valid, a new session, the parent untouched', async () => {
    const target = system.model((request, n) =>
      n === 1
        ? { text: 'I look', calls: [{ name: 'list_dir' }, { name: 'list_dir' }] }
        : { text: `answer to ${spoken(request).length}` },
    );
    const parent = await system.create(target, { tools: ['list_dir'] });
    await parent.prompt('look');
    await parent.prompt('and again');
    const events = await parent.events();
    const { length } = events;
    const forks = await Promise.all(
      Array.from({ length }, async (_, sequence) => {
        const { session } = await system.client.fork({ session: parent.id, sequence });
        const fork = system.session(session, target);
        const prompt = `fork at ${sequence}`;
        const end = await fork.prompt(prompt);
        const asked = fork.requests.map(spoken).find((said) => said.at(-1) === `user: ${prompt}`);
        const prefix = deriveMessages(events.slice(0, sequence + 1));
        expect([sequence, asked]).toEqual([sequence, [...spokenIn(prefix), `user: ${prompt}`]]);
        return { fork, end };
      }),
    );
    for (const { fork, end } of forks) {
      expect(end).toEqual({ kind: 'completed' });
      const [created] = await fork.data('session.created');
      expect(created).toMatchObject({ source: 'fork', parent: { session: parent.id } });
      expect((await fork.data('turn.start')).map(({ turn }) => turn)).toEqual([1]);
    }
    expect(new Set(forks.map(({ fork }) => fork.id)).size).toBe(length);
    expect(parent.requests.filter(({ problem }) => problem !== undefined)).toEqual([]);
    expect(await parent.events()).toEqual(events);
  });

  it('L36 a fork at an open approval: the dangling call is closed, and approvals are its own', async () => {
    const target = system.model((request) =>
      spoken(request).at(-1)?.startsWith('user') ? { calls: [{ name: 'list_dir' }] } : { text: 'looked' },
    );
    const parent = await system.create(target, { name: 'asking', tools: ['list_dir'] });
    const end = await parent.begin('look');
    const asked = await parent.until('approval.requested');
    const { session } = await system.client.fork({ session: parent.id, sequence: asked.sequence });
    const fork = system.session(session, target);
    const forkEnd = await fork.begin('try it yourself');
    await fork.until('approval.requested');
    expect(spoken(fork.requests[1]).slice(-2)).toEqual([
      expect.stringContaining('interrupted'),
      'user: try it yourself',
    ]);
    await system.client.decideApproval(fork.id, '1-1-0', 'rejected', { note: 'not here' });
    expect(await forkEnd()).toEqual({ kind: 'completed' });
    expect(await parent.data('approval.decided')).toEqual([]);
    await system.client.decideApproval(parent.id, '1-1-0', 'approved');
    expect(await end()).toEqual({ kind: 'completed' });
    expect(await fork.data('approval.decided')).toMatchObject([{ outcome: 'rejected', note: 'not here' }]);
    expect(await parent.data('approval.decided')).toMatchObject([{ outcome: 'approved' }]);
  });

  it('L42 compaction frees what it says, pairs stay whole, and the request is valid', async () => {
    const target = system.model((request) => {
      const last = spoken(request).at(-1) ?? '';
      if (asksForSummary(request)) return { text: 'They greeted each other at length.' };
      return last.includes('list') ? { calls: [{ name: 'list_dir' }] } : { text: 'done' };
    });
    const session = await system.create(target, { name: 'frugal', tools: ['list_dir'] });
    expect(await session.prompt(long)).toEqual({ kind: 'completed' });
    expect(await session.prompt('list the folder')).toEqual({ kind: 'completed' });
    const [start] = await session.data('compaction.start');
    const [summary] = await session.data('compaction.summary');
    expect(summary).toMatchObject({ replaced: start?.range, summary: text('They greeted each other at length.') });
    expect(await session.data('compaction.end')).toMatchObject([{ usage: { input: 10, output: 5 } }]);
    expect((await session.data('compaction.end'))[0]?.error).toBeUndefined();
    expect(session.requests.map(({ problem }) => problem)).toEqual(session.requests.map(() => undefined));
    const asking = session.requests.find(asksForSummary);
    expect(asking?.tools).toEqual([]);
    const last = session.requests.at(-1);
    expect(JSON.stringify(last?.messages)).not.toContain('word word');
    expect(spoken(last)).toEqual([
      'user: <context source="system:summary">They greeted each other at length.</context>',
      'user: list the folder',
      'assistant: list_dir({})',
      expect.stringMatching(/^tool /),
    ]);
  });

  it.each([
    ['the model fails', { error: { status: 500, message: 'no summary today' } }],
    ['the summary is empty', { text: ' ' }],
    ['the summary is cut', { text: 'They gree', finish: 'length' as const }],
  ])('L42 a compaction that fails changes nothing: %s', async (_what, answer) => {
    const target = system.model((request) => (asksForSummary(request) ? answer : { text: 'done' }));
    const session = await system.create(target, { name: 'frugal' });
    await session.prompt(long);
    expect(await session.prompt('go on')).toEqual({ kind: 'completed' });
    const ends = await session.data('compaction.end');
    expect(ends.map(({ error }) => error !== undefined)).toEqual(ends.map(() => true));
    expect(ends.length).toBeGreaterThan(0);
    expect(await session.data('compaction.summary')).toEqual([]);
    expect(spoken(session.requests.at(-1))).toEqual([`user: ${long}`, 'assistant: done', 'user: go on']);
  });

  const calls = [{ name: 'list_dir' }, { name: 'list_dir', arguments: { path: 'nowhere' } }, { name: 'list_dir' }];
  it.each([
    ['of a turn before', ['look', 'look again'], [{ calls }, { text: long }, { calls }, { text: 'done' }]],
    ['of a step before in the same turn', ['look twice'], [{ text: long, calls }, { calls }, { text: 'done' }]],
  ])('L42 the replaced range holds calls %s: each goes with its result', async (_where, prompts, answers) => {
    const left = [...answers];
    const target = system.model((request) =>
      asksForSummary(request) ? { text: 'They looked around.' } : (left.shift() ?? { text: 'too much' }),
    );
    const session = await system.create(target, { name: 'frugal', tools: ['list_dir'] });
    for (const prompt of prompts) expect(await session.prompt(prompt)).toEqual({ kind: 'completed' });
    const events = await session.events();
    const [start] = await session.data('compaction.start');
    const gone = events.slice(0, (start?.range.to ?? 0) + 1).map(({ type }) => type);
    expect(gone.filter((type) => type === 'tool.call')).toHaveLength(calls.length);
    expect(gone.filter((type) => type === 'tool.result')).toHaveLength(calls.length);
    expect(await session.data('compaction.summary')).toMatchObject([{ replaced: start?.range }]);
    expect(session.requests.map(({ problem }) => problem)).toEqual(session.requests.map(() => undefined));
    const asking = spoken(session.requests.find(asksForSummary));
    expect(asking.filter((line) => line.startsWith('tool'))).toHaveLength(calls.length);
    expect(spoken(session.requests.at(-1))).toEqual([
      'user: <context source="system:summary">They looked around.</context>',
      ...prompts.slice(1).map((prompt) => `user: ${prompt}`),
      'assistant: list_dir({}) list_dir({"path":"nowhere"}) list_dir({})',
      ...calls.map(() => expect.stringMatching(/^tool /)),
    ]);
  });

  const never = new Promise(() => undefined);
  it.each([
    ['awaited', { after: never }],
    ['written', { text: ['They greeted ', never, 'each other.'] }],
  ])(
    'L42 a cancel while the summary is %s: aborted, the conversation as it was, the next prompt runs',
    async (_when, summary) => {
      const writing = gate();
      const summaries = [summary, { error: { status: 500, message: 'no' } }];
      const target = system.model((request) => {
        if (!asksForSummary(request)) return { text: 'done' };
        writing.open();
        return summaries.shift() ?? { text: 'A long greeting.' };
      });
      const session = await system.create(target, { name: 'frugal' });
      await session.prompt(long);
      const end = await session.begin('go on');
      await writing.opened;
      await sleep(100); // what is said of it arrives: no client sees that
      await system.client.cancel(session.id);
      expect(await end()).toEqual({ kind: 'aborted', reason: 'cancelled' });
      await within(15_000, session.requests.at(-1)?.aborted);
      expect(await session.data('compaction.end')).toMatchObject([{ error: expect.anything() }]);
      expect(await session.prompt('and now')).toEqual({ kind: 'completed' });
      expect(await session.data('compaction.summary')).toEqual([]);
      expect(spoken(session.requests.at(-1))).toEqual([
        ...[`user: ${long}`, 'assistant: done', 'user: go on', 'user: and now'],
      ]);
      expect(await session.prompt('at last')).toEqual({ kind: 'completed' });
      expect(await session.data('compaction.summary')).toHaveLength(1);
      expect(session.requests.map(({ problem }) => problem)).toEqual(session.requests.map(() => undefined));
    },
  );

  it('L42 a context that overflows is compacted once, then asked again', async () => {
    let overflows = 0;
    const target = system.model((request) => {
      const said = spoken(request);
      if (asksForSummary(request)) return { text: 'A long greeting.' };
      if (said.length > 2 && said.some((line) => line.includes('word word'))) {
        overflows++;
        return { error: { status: 400, message: 'maximum context length exceeded', code: 'context_length_exceeded' } };
      }
      return { text: 'done' };
    });
    const session = await system.create(target);
    await session.prompt(long);
    expect(await session.prompt('go on')).toEqual({ kind: 'completed' });
    expect(overflows).toBe(1);
    expect(await session.data('compaction.summary')).toHaveLength(1);
    expect(spoken(session.requests.at(-1)).at(-1)).toBe('user: go on');
  });
});
