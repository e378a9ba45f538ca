import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { JetloopClient } from '@jetloop/client';
import { agentSpecSchema, type AgentSpecInput } from '@jetloop/contracts';
import { AgentStore } from '@jetloop/messaging';
import { gate, type Gate } from './support/gate.js';
import { text } from './support/messages.js';
import type { TestSession } from './support/test-session.js';
import { TestSystem } from './support/test-system.js';

interface Example {
  /** What it is an example of: a method of the client, or the class. */
  readonly of: string;
  readonly code: string;
}

/** The examples in the doc comments of a source. */
function examplesOf(source: string): Example[] {
  const documented = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s+(?:export class |static |async )*(\w+)/g;
  return [...source.matchAll(documented)].flatMap(([, comment = '', of = '']) =>
    comment
      .replaceAll(/^ *\* ?/gm, '')
      .split('@example\n')
      .slice(1)
      .map((example) => ({ of, code: example.split(/^@/m)[0] ?? '' })),
  );
}

const source = await readFile(join(import.meta.dirname, '../../libs/client/src/jetloop-client.ts'), 'utf8');
const examples = examplesOf(source);

/** Runs code in which these names are known. */
async function run(code: string, names: Readonly<Record<string, unknown>>): Promise<void> {
  const AsyncFunction = run.constructor as new (...parts: string[]) => (...values: unknown[]) => Promise<void>;
  // Within braces: an example may declare what others are given.
  await new AsyncFunction(...Object.keys(names), `{ ${code} }`)(...Object.values(names));
}

describe('the examples of the client', () => {
  let system: TestSystem;
  const helper: AgentSpecInput = {
    name: 'helper',
    model: { chain: ['default'] },
    modes: [{ id: 'plan', name: 'Plan' }],
  };
  beforeAll(async () => {
    const scripted = { provider: 'scripted', dialect: 'scripted' as const, model: 'scripted' };
    system = await TestSystem.start({
      targets: { default: { ...scripted, script: [{ reply: { text: '{"failing":0}' } }] as never } },
      plugins: { asks: { 'pre-tool': () => ({ decision: 'ask' }) } },
    });
    const store = await AgentStore.open(system.bus);
    for (const tenant of [system.tenant, 'acme'])
      await store.put(tenant, agentSpecSchema.parse({ ...helper, name: 'coder', description: 'Codes.' }));
    store.close();
  });
  afterAll(() => system.stop());

  /** A session in which the example means something; its model answers at once, or when the gate opens. */
  async function sessionFor(of: string, { opened, open }: Gate): Promise<TestSession> {
    if (of === 'decideApproval') {
      const session = await system.create([{ calls: [{ name: 'list_dir' }] }, { text: 'done' }], {
        name: 'asks',
        tools: ['list_dir'],
      });
      await session.begin('look');
      await session.until('approval.requested');
      return session;
    }
    const isOpen = of === 'cancel' || of === 'steer' || of === 'inject';
    if (!isOpen) open();
    const session = await system.create(() => ({ text: 'Very well.', after: opened }), { modes: helper.modes });
    const end = await session.begin('Begin.');
    if (isOpen) await session.until('step.start');
    else await end();
    return session;
  }

  /** What must have come of it. */
  const effects: Readonly<Record<string, (session: TestSession) => Promise<void>>> = {
    cancel: async (session) => {
      await session.until('turn.end');
      expect(await session.data('turn.end')).toMatchObject([
        { reason: { kind: 'aborted', reason: 'no longer needed' } },
      ]);
    },
    steer: async (session) => {
      await session.until('turn.end');
      expect(await session.data('steering.message')).toMatchObject([{ content: text('Leave the changelog alone.') }]);
    },
    inject: async (session) => {
      await session.until('context.message');
      expect(await session.data('message.queued')).toMatchObject([{}, { lane: 'inject', messageId: 'build-3fa2' }]);
    },
    decideApproval: async (session) => {
      await session.until('turn.end');
      const decided = { outcome: 'rejected', by: 'test', note: 'Not on a Friday.' };
      expect(await session.data('approval.decided')).toMatchObject([decided]);
    },
    fork: async ({ id }) => {
      const others = await Promise.all(
        (await system.client.sessions()).map(({ session }) => system.session(session).data('session.created')),
      );
      expect(others.flat()).toContainEqual(
        expect.objectContaining({ source: 'fork', parent: expect.objectContaining({ session: id }) }),
      );
    },
    closeSession: async (session) => {
      expect(await session.data('session.closed')).toEqual([{ reason: 'the ticket is done' }]);
    },
    resume: async (session) => {
      expect(await session.types()).toContain('session.resumed');
    },
    setMode: async (session) => {
      expect(await session.data('session.mode')).toMatchObject([{ mode: 'plan' }]);
    },
  };

  it('are many', () => {
    expect(examples.map(({ of }) => of)).toEqual(expect.arrayContaining(['JetloopClient', ...Object.keys(effects)]));
  });

  it.each(examples)('$of: $code', async ({ of, code }) => {
    const answer = gate();
    const session = await sessionFor(of, answer);
    const [{ approvalId } = { approvalId: '' }] = await session.data('approval.requested');
    const [{ messageId } = { messageId: '' }] = await session.data('message.queued');
    const lines: unknown[] = [];
    await run(code, {
      ...{ JetloopClient, natsUrl: system.natsUrl, client: system.client },
      ...{ session: session.id, messageId, approvalId, sequence: 0 },
      ...{ signal: AbortSignal.timeout(300), show: () => undefined },
      console: { log: (...said: unknown[]) => lines.push(said.join(' ')) },
    });
    if (code.includes('console.log')) expect(lines).not.toEqual([]);
    answer.open();
    await effects[of]?.(session);
  });
});
