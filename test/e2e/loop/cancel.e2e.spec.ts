import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { subjects } from '@jetloop/contracts';
import type { AgentPolicies } from '../support/agent-policies.js';
import { gate, within } from '../support/gate.js';
import { spoken, text } from '../support/messages.js';
import { TestSystem } from '../support/test-system.js';

/** What does not come by itself comes within this time, or never. */
const LONG_MS = 15_000;
const answers = () => ({ text: 'hello' });
const aborted = { kind: 'aborted', reason: 'cancelled' };

/** What slow policies wait for. */
const start = gate();
const vote = gate();
const asked = gate();

const plugins: Record<string, AgentPolicies> = {
  'slow-to-start': {
    'session-start': async () => {
      await start.opened;
      return undefined;
    },
  },
  careful: { 'pre-tool': () => ({ decision: 'ask', question: 'really?' }) },
  persistent: {
    'turn-continuation': async () => {
      asked.open();
      await vote.opened;
      return { decision: 'continue', reason: 'more' };
    },
  },
};

describe('a cancel', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({ plugins });
  });
  afterAll(() => system.stop());

  it('L20 while idle does nothing, and the next prompt runs', async () => {
    const session = await system.create(answers);
    const before = await session.types();
    expect(await system.client.cancel(session.id)).toBeNull();
    expect(await session.types()).toEqual(before);
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
  });

  it('L21 before the turn starts: the message is discarded, no turn begins, and the next prompt runs', async () => {
    const session = await system.create(answers, { name: 'slow-to-start' });
    const { messageId } = await system.client.prompt(session.id, 'too late');
    await system.client.cancel(session.id);
    expect(await session.endOf(messageId)).toEqual(aborted);
    start.open();
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect(await session.data('message.discarded')).toEqual([{ messageId, reason: 'cancelled' }]);
    expect(await session.data('turn.start')).toMatchObject([{ turn: 1 }]);
    expect(session.requests.map(spoken)).toEqual([['user: go']]);
  });

  it('L21 of a message that is still on its way: it is refused when it comes', async () => {
    const session = await system.create(answers);
    await system.client.cancel(session.id, { messageIds: ['to-come'] });
    await expect(system.client.prompt(session.id, 'here I am', { messageId: 'to-come' })).rejects.toMatchObject({
      code: 'stale',
    });
    expect(await session.prompt('go')).toEqual({ kind: 'completed' });
    expect(session.requests).toHaveLength(1);
  });

  it('L22 while streaming: the connection closes, what was said is kept, and the next prompt runs', async () => {
    const session = await system.create((_request, n) =>
      n === 1 ? { text: ['one two ', new Promise(() => undefined), 'three'] } : { text: 'again' },
    );
    const said = gate();
    const stop = system.client.live(session.id, said.open, 'delta');
    const end = await session.begin('count');
    await said.opened;
    stop();
    await system.client.cancel(session.id, { reason: 'enough' });
    await within(LONG_MS, session.requests[0]?.aborted);
    expect(await within(LONG_MS, end())).toEqual({ kind: 'aborted', reason: 'enough' });
    expect(await session.data('assistant.message')).toMatchObject([
      { finishReason: 'aborted', content: text('one two '), usage: { estimated: 'aborted' } },
    ]);
    expect(await session.data('turn.error')).toEqual([]);
    expect(await session.prompt('go on')).toEqual({ kind: 'completed' });
    expect(spoken(session.requests[1])).toEqual(['user: count', 'assistant: one two ', 'user: go on']);
  });

  it('L23 in a tool: its process group is killed, its call has a result, and the next prompt runs', async () => {
    const command = 'sleep 3071 & echo started; sleep 3071; echo late > late.txt';
    const session = await system.create([{ calls: [{ name: 'bash', arguments: { command } }] }, { text: 'awake' }], {
      tools: ['bash'],
    });
    const started = gate();
    const stop = system.client.live(session.id, started.open, 'tool');
    const end = await session.begin('sleep');
    await started.opened;
    stop();
    await system.client.cancel(session.id);
    expect(await within(LONG_MS, end())).toEqual(aborted);
    expect(await session.data('tool.result')).toMatchObject([{ callId: 'call_1_0', isError: true }]);
    await within(LONG_MS, untilGone('sleep 3071'));
    expect(await system.holds('late.txt')).toBe(false);
    expect(await session.prompt('wake up')).toEqual({ kind: 'completed' });
    expect(session.requests[1]?.problem).toBeUndefined();
  });

  it('L24 during an approval: it is cancelled, the call is not run, and a later decision is stale', async () => {
    const call = { name: 'write_file', arguments: { path: 'asked.txt', content: 'x' } };
    const session = await system.create([{ calls: [call] }, { text: 'fine' }], {
      name: 'careful',
      tools: ['write_file'],
    });
    const end = await session.begin('write');
    await session.until('approval.requested');
    await system.client.cancel(session.id);
    expect(await within(LONG_MS, end())).toEqual(aborted);
    expect(await session.data('approval.decided')).toMatchObject([{ approvalId: '1-1-0', outcome: 'cancelled' }]);
    expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'cancelled' } }]);
    await expect(system.client.decideApproval(session.id, '1-1-0', 'approved')).rejects.toMatchObject({
      code: 'stale',
    });
    expect(await system.holds('asked.txt')).toBe(false);
    expect(await session.prompt('never mind')).toEqual({ kind: 'completed' });
    expect(spoken(session.requests[1])[2]).toContain('cancelled');
  });

  it('L25 in the continuation seam that votes continue: exactly one step', async () => {
    const session = await system.create(answers, { name: 'persistent' });
    const end = await session.begin('go');
    await asked.opened;
    await system.client.cancel(session.id);
    expect(await within(LONG_MS, end())).toEqual(aborted);
    vote.open();
    await sleep(200); // the vote arrives, and nothing comes of it
    expect(await session.data('step.start')).toHaveLength(1);
    expect(session.requests).toHaveLength(1);
    expect(await session.data('steering.message')).toEqual([]);
  });

  it('L26 twice, and sent again late: one cancelling, and the next turn is not hurt', async () => {
    const release = gate();
    const session = await system.create((_request, n) =>
      n === 1 ? { after: new Promise(() => undefined) } : { after: release.opened, text: 'still here' },
    );
    const end = await session.begin('one');
    await session.until('step.start');
    const command = { kind: 'cancel', commandId: `cancel-${session.id}`, actor: 'test', reason: 'enough' };
    const send = () =>
      system.bus.publisher.publish(subjects.inbox(system.tenant, session.id), Buffer.from(JSON.stringify(command)));
    await send(); // the one that is decided: what changed nothing is not remembered
    await Promise.all([send(), system.client.cancel(session.id, { reason: 'another' })]);
    expect(await end()).toEqual({ kind: 'aborted', reason: 'enough' });
    const next = await session.begin('two');
    await session.until('step.start', 2);
    await send();
    await system.client.setMode(session.id, 'none').catch(() => undefined); // decided behind it: it is done
    release.open();
    expect(await next()).toEqual({ kind: 'completed' });
    expect(await session.data('turn.cancelling')).toMatchObject([{ turn: 1 }]);
  });

  it('L27 cancel, then prompt at once: the prompt runs', async () => {
    for (const reply of [{ after: new Promise(() => undefined) }, { text: 'quick' }]) {
      const session = await system.create((_request, n) => (n === 1 ? reply : { text: 'hello' }));
      await system.client.prompt(session.id, 'one');
      const [, { messageId }] = await Promise.all([
        system.client.cancel(session.id),
        system.client.prompt(session.id, 'two'),
      ]);
      expect(await session.endOf(messageId)).toEqual({ kind: 'completed' });
      expect(spoken(session.requests.at(-1)).at(-1)).toBe('user: two');
    }
  });
});

/** Resolves once no process runs this command line any more. */
async function untilGone(commandLine: string): Promise<void> {
  for (;;) {
    const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => ''))); // it ended meanwhile
    if (!lines.some((line) => line.replaceAll('\0', ' ').trim() === commandLine)) return;
    await sleep(50);
  }
}
