import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { runAuditQuery } from '@jetloop/persistence';
import type { ServiceProcess } from '@jetloop/testing';
import { consumeEvents } from '../e2e/support/external-consumer.js';
import { ProcessSystem } from './support/process-system.js';
import { logOf, problemsOf } from './support/session-log.js';

jest.setTimeout(90_000);

const STEPS = 6;
const targets = {
  looks: {
    provider: 'scripted',
    dialect: 'scripted' as const,
    model: 'scripted',
    script: [
      ...Array.from({ length: STEPS }, (_, index) => ({
        match: { step: index + 1 },
        reply: { toolCalls: [{ name: 'list_dir', arguments: {} }] },
        delayMs: 100,
      })),
      { reply: { text: 'I have looked.' } },
    ],
  },
};
const watched = {
  name: 'watched',
  tenants: ['*'],
  agents: ['*'],
  policies: [
    {
      name: 'no-shell',
      order: 0,
      mode: 'enforce',
      seams: ['pre-tool'],
      when: { tool: ['bash'] },
      decide: { deny: 'no shell here' },
    },
  ],
};
const services = ['loop-orchestrator', 'llm-router', 'tool-runner', 'hook-policy', 'session-projector'];

describe('a service that is killed in a turn', () => {
  let system: ProcessSystem;
  const running = new Map<string, ServiceProcess>();

  beforeAll(async () => {
    system = await ProcessSystem.start({ targets });
    await system.putPolicies('watched', watched);
    await Promise.all(services.map(async (service) => running.set(service, await system.spawn(service))));
  });
  afterAll(() => system.stop());

  it.each(services)(
    '%s: started again, the turn ends well; SQL and the public stream equal the journal',
    async (service) => {
      const session = `killed-${service}`;
      const { messageId } = await system.client.create({
        session,
        agent: system.agent('looks', { tools: ['list_dir'] }),
        workspace: system.folder,
        prompt: 'look around, often',
      });
      const done = system.client.turnOf(session, messageId, { signal: AbortSignal.timeout(60_000) });
      done.catch(() => undefined); // awaited below, after the kill
      let steps = 0;
      for await (const { event } of system.client.events(session))
        if (event.type === 'step.start' && ++steps === 3) break;
      running.get(service)?.kill9();
      expect(await running.get(service)?.exited).toBe('SIGKILL');
      running.set(service, await system.spawn(service));
      expect((await done).reason).toEqual({ kind: 'completed' });

      const log = await logOf(system.client, session);
      expect(problemsOf(log)).toEqual([]);
      expect(log.filter(({ type }) => type === 'assistant.message')).toHaveLength(STEPS + 1);
      const journal = log.map(({ sequence, type, data }) => ({ sequence, type, data }));
      expect(await eventually(() => inSql(session), journal.length)).toEqual(journal);
      expect(await eventually(() => published(session), journal.length)).toEqual(journal);
    },
  );

  async function inSql(session: string): Promise<unknown[]> {
    const query = `select seq, type, data from events where session_id = '${session}' order by seq`;
    return (await runAuditQuery(system.databaseUrl, query)).rows.map(([sequence, type, data]) => ({
      sequence,
      type,
      data,
    }));
  }

  async function published(session: string): Promise<unknown[]> {
    const events = await consumeEvents(system.natsUrl, `evt.${system.tenant}.${session}.>`);
    return events.map(({ value }) => {
      const { sequence, type, data } = value as { sequence: number; type: string; data: unknown };
      return { sequence, type: type.replace('jetloop.', ''), data };
    });
  }
});

/** Projections follow: asks until there are as many rows, or the time is over. */
async function eventually(ask: () => Promise<unknown[]>, count: number): Promise<unknown[]> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const rows = await ask();
    if (rows.length >= count || Date.now() > deadline) return rows;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
