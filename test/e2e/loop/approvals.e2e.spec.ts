import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentPolicies } from '../support/agent-policies.js';
import { spoken } from '../support/messages.js';
import type { TestSession } from '../support/test-session.js';
import { TestSystem } from '../support/test-system.js';

const EXPIRES_MS = 500;
const looksAt = (path: string) => ({ name: 'list_dir', arguments: { path } });

/** Asks about calls that look at `asked` or `soon`. */
const asks: AgentPolicies = {
  'pre-tool': ({ arguments: { path } }) =>
    path === 'asked' || path === 'soon'
      ? { decision: 'ask', question: 'May it look?', ...(path === 'soon' ? { expiresInMs: EXPIRES_MS } : {}) }
      : undefined,
};

/** A set for one agent: what a call looks at in the end, and whether a person is asked. */
const shifting = (agent: string, path: string, question?: string) => `
name: ${agent}
agents: [${agent}]
policies:
  - { name: elsewhere, seam: pre-tool, decide: { rewrite: { arguments: { path: ${path} } } } }
${question === undefined ? '' : `  - { name: ask, seam: pre-tool, decide: { ask: '${question}' } }`}
`;

describe('H6 a call that waits for a person', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ plugins: { asks } });
    await Promise.all(['asked', 'soon', 'other'].map((name) => mkdir(join(system.workspace, name))));
  });
  afterAll(() => system.stop());

  const begin = async (agent: string, ...calls: { name: string; arguments: unknown }[]) => {
    const spec = { name: agent, tools: ['list_dir', 'write_file'] };
    const session = await system.create([{ calls }, { text: 'done' }], spec);
    const end = await session.begin('look');
    await session.until('approval.requested');
    return { session, end };
  };
  const decide = (
    session: TestSession,
    outcome: 'approved' | 'rejected',
    more: { id?: string; note?: string } = {},
  ) => {
    const { id = '1-1-0', note } = more;
    return system.client.decideApproval(session.id, id, outcome, note === undefined ? {} : { note });
  };
  const completed = { kind: 'completed' };

  it('holds up no other readonly call of its group, but the groups behind it, and the model', async () => {
    const write = { name: 'write_file', arguments: { path: 'later.txt', content: 'x' } };
    const { session, end } = await begin('asks', looksAt('.'), looksAt('asked'), looksAt('other'), write);
    await session.until('tool.result', 2);
    await sleep(200); // what must not happen would happen now
    expect((await session.data('tool.result')).map(({ n }) => n).sort()).toEqual([0, 2]);
    expect((await session.data('tool.call')).map(({ n }) => n)).toEqual([0, 1, 2]);
    expect(await system.holds('later.txt')).toBe(false);
    expect(session.requests).toHaveLength(1);
    await decide(session, 'approved', { id: '1-1-1' });
    expect(await end()).toEqual(completed);
    expect((await session.data('tool.result')).map(({ isError }) => isError)).toEqual([false, false, false, false]);
    expect(await system.holds('later.txt')).toBe(true);
    expect(session.requests).toHaveLength(2);
    const told = spoken(session.requests[1]).filter((line) => line.startsWith('tool'));
    expect(told.map((line) => line.split(':')[0])).toEqual([0, 1, 2, 3].map((n) => `tool call_1_${n}`));
  });

  it.each([
    ['approved', {}, 'asked', ''],
    ['rejected', { note: 'Not on a Friday.' }, 'asked', 'This call was rejected by test: Not on a Friday.'],
    ['rejected', {}, 'asked', 'This call was rejected by test.'],
    ['expired', {}, 'soon', 'Nobody approved this call in time.'],
  ] as const)('%s %j: the model is asked once, and told the truth', async (outcome, more, path, words) => {
    const { session, end } = await begin('asks', looksAt(path));
    if (outcome !== 'expired') await decide(session, outcome, more);
    expect(await end()).toEqual(completed);
    expect(await session.data('approval.decided')).toMatchObject([{ outcome, ...more }]);
    expect(session.requests).toHaveLength(2);
    const told = spoken(session.requests[1]).filter((line) => line.startsWith('tool'));
    const [result] = await session.data('tool.result');
    expect(result?.isError).toBe(outcome !== 'approved');
    const said = result?.content[0]?.type === 'text' ? result.content[0].text : '';
    if (words !== '') expect(said).toBe(words);
    expect(told).toEqual([`tool call_1_0: ${said}`]);
  });

  it('has one outcome, whoever comes at the instant at which it expires', async () => {
    const race = async () => {
      const { session, end } = await begin('asks', looksAt('soon'));
      const [{ expiresAt } = { expiresAt: '' }] = await session.data('approval.requested');
      await sleep(Math.max(0, Date.parse(expiresAt) - Date.now() - 5));
      const [answer] = await Promise.allSettled([decide(session, 'approved')]);
      expect(await end()).toEqual(completed);
      const decided = await session.data('approval.decided');
      const outcome = answer.status === 'fulfilled' ? 'approved' : 'expired';
      expect(decided).toMatchObject([{ outcome }]);
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'stale' });
      expect(await session.data('tool.result')).toMatchObject([{ isError: outcome === 'expired' }]);
    };
    await Promise.all(Array.from({ length: 8 }, race));
  });

  it('has one outcome, when a cancel and a decision come at once', async () => {
    const race = async () => {
      const { session, end } = await begin('asks', looksAt('asked'));
      const [answer] = await Promise.allSettled([decide(session, 'approved'), system.client.cancel(session.id)]);
      await end();
      const outcome = answer.status === 'fulfilled' ? 'approved' : 'cancelled';
      expect(await session.data('approval.decided')).toMatchObject([{ outcome }]);
      expect(await session.data('tool.result')).toHaveLength(1);
    };
    await Promise.all(Array.from({ length: 8 }, race));
  });

  it('is asked about again under other policies: allowed now, it runs', async () => {
    await system.putPolicies(shifting('eased', 'other', 'May it?'));
    const { session, end } = await begin('eased', looksAt('.'));
    await system.putPolicies(shifting('eased', 'other'));
    await decide(session, 'approved');
    expect(await end()).toEqual(completed);
    expect(await session.data('approval.decided')).toMatchObject([{ outcome: 'approved', reevaluate: true }]);
    expect((await session.decided('pre-tool')).at(-1)).toMatchObject({ decision: 'allow' });
    expect(await session.data('tool.result')).toMatchObject([{ isError: false }]);
  });

  it('is asked about again under other policies: a person is asked again, and the second answer counts', async () => {
    await system.putPolicies(shifting('asking', 'other', 'May it?'));
    const { session, end } = await begin('asking', looksAt('.'));
    await system.putPolicies(shifting('asking', 'other', 'Really?'));
    await decide(session, 'approved');
    await session.until('approval.requested', 2);
    expect(await session.data('tool.result')).toEqual([]);
    await decide(session, 'rejected', { id: '1-1-0-2' });
    expect(await end()).toEqual(completed);
    expect(await session.data('approval.decided')).toMatchObject([{ outcome: 'approved' }, { outcome: 'rejected' }]);
    expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'rejected' } }]);
  });

  it('does not run with other arguments than those that were approved', async () => {
    await system.putPolicies(shifting('moved', 'other', 'May it?'));
    const { session, end } = await begin('moved', looksAt('.'));
    await system.putPolicies(shifting('moved', 'asked'));
    await decide(session, 'approved');
    expect(await end()).toEqual(completed);
    expect(await session.data('tool.call')).toMatchObject([{ effective: { path: 'other' } }]);
    expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'denied' } }]);
    expect(spoken(session.requests[1]).at(-1)).toContain('and with them the arguments');
  });
});
