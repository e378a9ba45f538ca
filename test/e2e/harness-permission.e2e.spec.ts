import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '@jetloop/contracts';
import { isRunning } from './support/acp/is-running.js';
import { ScriptedAgent, storyOf, type Agent } from './support/acp/scripted-agent.js';
import { TestSystem } from './support/test-system.js';

const options = [
  { optionId: 'a1', name: 'Yes', kind: 'allow_once' },
  { optionId: 'r1', name: 'No', kind: 'reject_once' },
];
const asks = async (a: Agent) => {
  const prompt = await a.prompted();
  const answer = await a.ask('p1', a.args as never);
  await a.say(JSON.stringify(answer['result']));
  await a.stop(prompt);
};
const waits = async (a: Agent) => {
  const prompt = await a.prompted();
  await a.update('session_info_update', { title: String(process.pid) });
  await a.say('working');
  await a.update('tool_call', { toolCallId: 'c1', title: 'Run' });
  await a.next('session/cancel');
  if (a.args === 'end_turn') await a.stop(prompt);
  else if (a.args === 'error') await a.fail(prompt, { code: -32603, message: 'aborted' });
  else if (a.args !== 'ignore') await a.stop(prompt, 'cancelled');
  else await a.sleep(60_000);
};

describe('permissions and cancels of an external agent', () => {
  let system: TestSystem;
  const start = async (
    script: (a: Agent) => Promise<void>,
    args: Json,
    permissionPolicy: 'deny' | 'allow_once' | 'ask' = 'deny',
    more: { approvalMs?: number } = {},
  ) => {
    const harness = { script: args, permissionPolicy, continuity: 'fresh' as const, ...more };
    const agent = await ScriptedAgent.write(system.workspace, script, harness);
    const session = await system.create('harness', agent.spec);
    const raw = async (source: string) =>
      (await session.data('harness.raw')).filter((one) => one.source === source).map(({ value }) => value);
    return { agent, session, raw };
  };
  const cancels = async (agent: ScriptedAgent) =>
    (await agent.wire()).filter((line) => line.includes('session/cancel'));

  beforeAll(async () => {
    const harnessTimes = { cancelMs: 2_000, terminateMs: 300, killMs: 600 };
    system = await TestSystem.start({ targets: {}, harnessTimes });
  });

  afterAll(async () => {
    await system.stop();
  });

  it('A16 deny: the ask and the decision are durable, and the first way to reject is taken', async () => {
    const { session, raw } = await start(asks, options);
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect(await raw('session/request_permission')).toMatchObject([{ toolCall: { toolCallId: 'c1' }, options }]);
    expect(await raw('session/request_permission/decision')).toEqual([
      { policy: 'deny', toolCallId: 'c1', offered: options, outcome: { outcome: 'selected', optionId: 'r1' } },
    ]);
    expect(await session.data('assistant.message')).toMatchObject([
      { content: [{ text: '{"outcome":{"outcome":"selected","optionId":"r1"}}' }] },
    ]);
  });

  it('A28 every subset of option kinds, in both orders, by every policy: on the wire and in the log', async () => {
    const verdicts = ['deny', 'allow_once', 'ask approved', 'ask rejected'] as const;
    await Promise.all(verdicts.map((verdict) => expectSubsets(verdict)));
  });

  /** One turn asks for a permission with each subset, one behind the other. */
  async function expectSubsets(verdict: 'deny' | 'allow_once' | 'ask approved' | 'ask rejected'): Promise<void> {
    const kinds = ['allow_once', 'allow_always', 'reject_once', 'reject_always'];
    const subsets = Array.from({ length: 16 }, (_, bits) => kinds.filter((_kind, n) => (bits >> n) & 1)).flatMap(
      (subset) => (subset.length > 1 ? [subset, subset.toReversed()] : [subset]),
    );
    const policy = verdict.startsWith('ask') ? 'ask' : (verdict as 'deny' | 'allow_once');
    const { agent, session, raw } = await start(
      async (a) => {
        const prompt = await a.prompted();
        for (const [n, subset] of (a.args as string[][]).entries())
          await a.ask(
            `p${n}`,
            subset.map((kind) => ({ optionId: `id-${kind}`, name: kind, kind })),
          );
        await a.stop(prompt);
      },
      subsets,
      policy,
    );
    const { messageId } = await system.client.prompt(session.id, 'go');
    const outcome = verdict === 'ask approved' ? 'approved' : 'rejected';
    for (let n = 1; policy === 'ask' && n <= subsets.length; n++) {
      const { data } = await session.until('approval.requested', n);
      await system.client.decideApproval(session.id, (data as { approvalId: string }).approvalId, outcome);
    }
    expect(await session.endOf(messageId)).toEqual({ kind: 'completed' });
    const isAllowed = verdict === 'allow_once' || verdict === 'ask approved';
    const suitable = isAllowed ? ['allow_once'] : ['reject_once', 'reject_always'];
    const expected = subsets.map((subset) => {
      const chosen = suitable.find((kind) => subset.includes(kind));
      return chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: `id-${chosen}` };
    });
    const answers = (await agent.wire()).map(
      (line) => JSON.parse(line) as { id: unknown; result?: { outcome: unknown } },
    );
    expect(answers.filter(({ id }) => String(id).startsWith('p'))).toEqual(
      expected.map((one, n) => ({ jsonrpc: '2.0', id: `p${n}`, result: { outcome: one } })),
    );
    expect(await raw('session/request_permission/decision')).toMatchObject(
      expected.map((one, n) => ({ policy, outcome: one, offered: subsets[n]?.map((kind) => ({ kind })) ?? [] })),
    );
  }

  it('A17 allow_once with nothing offered is cancelled', async () => {
    const { session, raw } = await start(asks, [], 'allow_once');
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect(await raw('session/request_permission/decision')).toMatchObject([{ outcome: { outcome: 'cancelled' } }]);
  });

  it.each([
    ['approved', 'a1'],
    ['rejected', 'r1'],
    ['expired', 'r1'],
  ] as const)('A29 ask, %s: the agent gets %s', async (outcome, optionId) => {
    const more = outcome === 'expired' ? { approvalMs: 500 } : {};
    const { session, raw } = await start(asks, options, 'ask', more);
    const { messageId } = await system.client.prompt(session.id, 'go');
    await session.until('approval.requested');
    const [{ approvalId } = { approvalId: '' }] = await session.data('approval.requested');
    if (outcome !== 'expired') await system.client.decideApproval(session.id, approvalId, outcome);
    expect(await session.endOf(messageId)).toEqual({ kind: 'completed' });
    expect(await session.data('approval.decided')).toMatchObject([{ approvalId, outcome }]);
    expect(await raw('session/request_permission/decision')).toMatchObject([
      { policy: 'ask', outcome: { outcome: 'selected', optionId } },
    ]);
  });

  it('A29 A30 a cancel while a permission waits: the agent is answered cancelled, and the approval too', async () => {
    const { agent, session } = await start(
      async (a) => {
        const prompt = await a.prompted();
        const asked = a.ask('p1', a.args as never);
        await a.next('session/cancel');
        await a.say(JSON.stringify((await asked)['result']));
        await a.stop(prompt, 'cancelled');
      },
      options,
      'ask',
    );
    const { messageId } = await system.client.prompt(session.id, 'go');
    await session.until('approval.requested');
    await system.client.cancel(session.id, { reason: 'enough' });
    expect(await session.endOf(messageId)).toEqual({ kind: 'aborted', reason: 'enough' });
    expect(await session.data('assistant.message')).toMatchObject([
      { content: [{ text: '{"outcome":{"outcome":"cancelled"}}' }] },
    ]);
    expect(await session.data('approval.decided')).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await cancels(agent)).toEqual([
      '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"agent-1"}}',
    ]);
    const next = await system.client.prompt(session.id, 'next');
    await session.until('approval.requested', 2);
    await system.client.cancel(session.id, { reason: 'that too' });
    expect(await session.endOf(next.messageId)).toEqual({ kind: 'aborted', reason: 'that too' });
    expect(await cancels(agent)).toHaveLength(2);
  });

  it('A30 a cancel in the stream alone, twice: one aborted with what was said, and the next prompt runs', async () => {
    const { agent, session } = await start(async (a) => {
      const prompt = await a.prompted();
      await a.say('working');
      if (JSON.stringify(prompt.params).includes('next')) return a.stop(prompt);
      await a.next('session/cancel');
      await a.say(' and more');
      await a.stop(prompt, 'cancelled');
    }, null);
    const said = session.said();
    const { messageId } = await system.client.prompt(session.id, 'go');
    await said;
    await system.client.cancel(session.id, { reason: 'enough' });
    await system.client.cancel(session.id, { reason: 'again' });
    expect(await session.endOf(messageId)).toEqual({ kind: 'aborted', reason: 'enough' });
    expect(await cancels(agent)).toHaveLength(1);
    expect(await session.prompt('next')).toEqual({ kind: 'completed' });
    expect(await session.data('assistant.message')).toMatchObject([
      { turn: 1, content: [{ text: 'working and more' }], finishReason: 'aborted' },
      { turn: 2, content: [{ text: 'working' }] },
    ]);
    expect((await session.data('turn.end')).map(({ turn }) => turn)).toEqual([1, 2]);
  });

  it('A29 the approval of an agent that died is cancelled', async () => {
    const go = join(system.workspace, 'die.go');
    const { session } = await start(
      async (a) => {
        const fs = await import('node:fs');
        const { go: die, options: offered } = a.args as { go: string; options: never };
        await a.prompted();
        void a.ask('p1', offered);
        while (!fs.existsSync(die)) await a.sleep(10);
        process.exit(3);
      },
      { go, options },
      'ask',
    );
    const end = await session.begin('go');
    await session.until('approval.requested');
    await writeFile(go, '');
    expect(await end()).toMatchObject({ kind: 'error', code: 'child_gone' });
    expect(await session.data('approval.decided')).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it.each(['cancelled', 'end_turn', 'error', 'ignore'])(
    'A30 A31 a cancel in a stream and a tool, twice, answered by %s: one aborted, nothing of it left, and the next prompt runs',
    async (answer) => {
      const { agent, session, raw } = await start(waits, answer);
      const { messageId } = await system.client.prompt(session.id, 'go');
      await session.until('tool.call');
      await system.client.cancel(session.id, { reason: 'enough' });
      await system.client.cancel(session.id, { reason: 'again' });
      expect(await session.endOf(messageId)).toEqual({ kind: 'aborted', reason: 'enough' });
      expect(await session.data('turn.error')).toEqual([]);
      const [{ title }] = (await raw('session/update/session_info_update')) as [{ title: string }];
      expect(await isRunning(title)).toBe(false);
      expect(await session.data('tool.result')).toMatchObject([{ callId: 'c1', isError: true }]);
      expect(await session.data('assistant.message')).toMatchObject([{ content: [{ text: 'working' }] }]);
      expect(await cancels(agent)).toEqual([
        '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"agent-1"}}',
      ]);
      const next = await system.client.prompt(session.id, 'next');
      await session.until('tool.call', 2);
      await system.client.cancel(session.id);
      expect(await session.endOf(next.messageId)).toMatchObject({ kind: 'aborted' });
    },
  );

  it('A30 a cancel in the handshake: no cancel is written, one aborted, and the next prompt runs', async () => {
    const mark = join(system.workspace, 'shaken.mark');
    const { agent, session } = await start(async (a) => {
      const fs = await import('node:fs');
      const isFirst = !fs.existsSync(a.args as string);
      fs.writeFileSync(a.args as string, '');
      await a.initialize();
      if (isFirst) await a.sleep(60_000);
      await a.answer(await a.next('session/new'), { sessionId: a.session });
      await a.stop(await a.next('session/prompt'));
    }, mark);
    const { messageId } = await system.client.prompt(session.id, 'go');
    await session.until('step.start');
    while (!(await agent.methods()).includes('session/new')) await sleep(20);
    await system.client.cancel(session.id, { reason: 'enough' });
    expect(await session.endOf(messageId)).toEqual({ kind: 'aborted', reason: 'enough' });
    expect(await agent.methods()).toEqual(['initialize', 'session/new']);
    expect(storyOf(await session.events()).slice(-4)).toEqual([
      'turn.cancelling',
      'initialize',
      'step.end',
      'turn.end',
    ]);
    expect(await session.prompt('next')).toEqual({ kind: 'completed' });
  });

  it('A30 a cancel that crosses the answer, at any distance: one end each, and the next prompt runs', async () => {
    const { agent, session } = await start(async (a) => {
      const prompt = await a.prompted();
      await a.say('working');
      await a.sleep(40);
      await a.stop(prompt);
    }, null);
    for (let round = 0; round < 6; round++) {
      const { messageId } = await system.client.prompt(session.id, 'go');
      await session.until('step.start', round + 1);
      const written = (await cancels(agent)).length;
      while ((await agent.methods()).filter((method) => method === 'session/prompt').length <= round) await sleep(5);
      await sleep(round * 12);
      await system.client.cancel(session.id, { reason: 'enough' });
      const end = await session.endOf(messageId);
      const isCancelled = (await session.data('turn.cancelling')).some(({ turn }) => turn === round + 1);
      expect([round, end]).toEqual([
        round,
        isCancelled ? { kind: 'aborted', reason: 'enough' } : { kind: 'completed' },
      ]);
      expect((await cancels(agent)).length - written).toBeLessThanOrEqual(isCancelled ? 1 : 0);
    }
    expect((await session.data('turn.end')).map(({ turn }) => turn)).toEqual([1, 2, 3, 4, 5, 6]);
    for (const line of await cancels(agent))
      expect(JSON.parse(line)).toMatchObject({ params: { sessionId: 'agent-1' } });
  });

  it('A32 steering and injections are refused by their label, and the wire does not change', async () => {
    const { agent, session } = await start(waits, 'cancelled');
    const { messageId } = await system.client.prompt(session.id, 'go');
    await session.until('tool.call');
    const before = await agent.wire();
    for (const sent of [system.client.steer(session.id, 'left'), system.client.inject(session.id, 'a fact')])
      await expect(sent).rejects.toThrow('CapabilityNotSupported {primitive: inject_message}');
    expect(await agent.wire()).toEqual(before);
    await system.client.cancel(session.id);
    await session.endOf(messageId);
  });
});
