import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ServiceProcess } from '@jetloop/testing';
import { equalsJournal } from './support/equals-journal.js';
import { ProcessSystem } from './support/process-system.js';
import { logOf, problemsOf } from './support/session-log.js';
import { callsTool } from './support/tool-turns.js';

jest.setTimeout(90_000);

const STEPS = 6;
const models = { looks: callsTool('list_dir', {}, { times: STEPS, delayMs: 100 }) };
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
    system = await ProcessSystem.start({ models });
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
      await equalsJournal(system, session, log);
    },
  );
});
