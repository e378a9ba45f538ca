import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { startInfra, type Infra } from '@jetloop/testing';
import { equalsJournal } from './support/equals-journal.js';
import { ProcessSystem } from './support/process-system.js';
import { logOf, problemsOf } from './support/session-log.js';
import { callsTool } from './support/tool-turns.js';

jest.setTimeout(120_000);

const SESSIONS = 4;
const STEPS = 8;
const models = { looks: callsTool('list_dir', {}, { times: STEPS, delayMs: 50 }) };

describe('a server that is killed', () => {
  let folder: string;
  let server: Infra;
  let system: ProcessSystem;

  const startServer = (natsPort?: number) =>
    startInfra({ dataDir: folder, need: { postgres: false }, env: embedded(), ...(natsPort ? { natsPort } : {}) });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jetloop-nats-kill-'));
    server = await startServer();
    system = await ProcessSystem.start({ models, natsUrl: server.natsUrl });
    const services = ['session-projector', 'loop-orchestrator', 'llm-router', 'tool-runner'];
    await Promise.all(services.map((service) => system.spawn(service)));
  });
  afterAll(async () => {
    await system.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('nats-server, with turns running: all end well, and the public stream, written asynchronously, is whole', async () => {
    const turns = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, index) => {
        const session = `survives-${index}`;
        const agent = system.agent('looks', { tools: ['list_dir'] });
        const prompt = 'look around, often';
        const { messageId } = await system.client.create({ session, agent, workspace: system.folder, prompt });
        return { session, messageId };
      }),
    );
    let steps = 0;
    for await (const { event } of system.client.events('survives-0'))
      if (event.type === 'step.start' && ++steps === 4) break;
    process.kill(Number(await readFile(join(folder, 'nats', 'nats.pid'), 'utf8')), 'SIGKILL');
    server = await startServer(Number(new URL(server.natsUrl).port));

    for (const { session, messageId } of turns) {
      const { reason } = await system.client.turnOf(session, messageId, { signal: AbortSignal.timeout(60_000) });
      expect(reason).toEqual({ kind: 'completed' });
      const log = await logOf(system.client, session);
      expect(problemsOf(log)).toEqual([]);
      expect(log.filter(({ type }) => type === 'assistant.message')).toHaveLength(STEPS + 1);
      await equalsJournal(system, session, log);
    }
  });
});

/** A server of its own, wherever the run has its servers. */
function embedded(): NodeJS.ProcessEnv {
  return { ...process.env, NATS_URL: undefined, DATABASE_URL: undefined, JETLOOP_INFRA: undefined };
}
