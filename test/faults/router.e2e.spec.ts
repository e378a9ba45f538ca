import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isKnownEvent } from '@jetloop/contracts';
import { Journal } from '@jetloop/messaging';
import type { ServiceProcess } from '@jetloop/testing';
import { FakeModels } from '../e2e/support/fake-models.js';
import { ProcessSystem } from './support/process-system.js';
import { logOf, problemsOf } from './support/session-log.js';

jest.setTimeout(60_000);

const KEY = 'sk-secret-4d1c9e77aa';
const CANARY = 'the canary of the prompt sings at dawn';
const halfAnAnswer = { text: 'Once upon a time', hangsAfter: 2 };

describe('a router as a process of its own', () => {
  let models: FakeModels;
  let system: ProcessSystem;
  let router: ServiceProcess;
  const routers: ServiceProcess[] = [];
  const spawnRouter = async () => {
    router = await system.spawn('llm-router', { ROUTER_TEST_KEY: KEY, LOG_LEVEL: 'debug' });
    routers.push(router);
  };

  beforeAll(async () => {
    models = await FakeModels.start();
    const target = (model: string) => ({
      provider: 'fake',
      dialect: 'chat' as const,
      model,
      baseUrl: models.url,
      apiKeyEnv: 'ROUTER_TEST_KEY',
      jitterBackoff: 5,
      prices: { input: 1, output: 2 },
    });
    system = await ProcessSystem.start({ targets: { a: target('a') } });
    await Promise.all([system.spawn('loop-orchestrator'), spawnRouter()]);
  });
  afterAll(async () => {
    await system.stop();
    await models.stop();
  });

  const create = (session: string, prompt: string) =>
    system.client.create({ session, agent: system.agent('a'), workspace: system.folder, prompt });
  const endOf = async (session: string, messageId: string) =>
    (await system.client.turnOf(session, messageId, { signal: AbortSignal.timeout(30_000) })).reason;
  const answersOf = async (session: string) =>
    (await logOf(system.client, session)).flatMap((event) => (event.type === 'assistant.message' ? [event.data] : []));

  it('R46 killed mid-stream: one answer, the lost try among its attempts; the same command again makes no call', async () => {
    models.plan({ a: [halfAnAnswer, { text: 'The end.' }] });
    const commands: Uint8Array[] = [];
    const spy = system.bus.nats.subscribe(`cmd.llm.${system.tenant}`, {
      callback: (_error, message) => commands.push(message.data),
    });
    const said = new Promise((resolve) => system.client.live('killed', resolve, 'delta'));
    const { messageId } = await create('killed', 'Tell me a story');
    await said;
    router.kill9();
    expect(await router.exited).toBe('SIGKILL');
    await spawnRouter();
    expect(await endOf('killed', messageId)).toEqual({ kind: 'completed' });
    const answers = await answersOf('killed');
    expect(answers).toMatchObject([
      {
        content: [{ type: 'text', text: 'The end.' }],
        attempts: [
          {
            target: 'a',
            why: 'primary',
            outcome: 'unknown',
            error: { code: 'network' },
            usage: { estimated: 'missing' },
          },
          { target: 'a', why: 'retry', outcome: 'ok' },
        ],
      },
    ]);
    expect(answers[0]?.attempts[0]?.usage?.input).toBeGreaterThan(0);
    expect(answers[0]?.cost).toBeGreaterThan(answers[0]?.attempts[1]?.cost ?? Infinity);
    expect(problemsOf(await logOf(system.client, 'killed'))).toEqual([]);

    const [command] = commands;
    spy.unsubscribe();
    if (!command) throw new Error('expected a command to the router');
    const before = (await logOf(system.client, 'killed')).length;
    await system.bus.publisher.publish(`cmd.llm.${system.tenant}`, command);
    await eventually(async () => (await pending(system)) === 0);
    expect(models.calls).toEqual(['a', 'a']);
    expect(await logOf(system.client, 'killed')).toHaveLength(before);
  });

  it('R45 an abort whose message got lost closes the connection in 3 s', async () => {
    models.plan({ a: [halfAnAnswer, { text: 'never' }] });
    const session = 'lost-abort';
    const said = new Promise((resolve) => system.client.live(session, resolve, 'delta'));
    const journal = new Journal(system.bus);
    const { messageId } = await create(session, 'Tell me a story');
    await said;
    const { closed } = models;
    // The fact alone, as it stands when the message about it was lost.
    const commits = await journal.load(system.tenant, session);
    const last = commits.at(-1);
    const sequence = commits.reduce((count, { commit }) => count + commit.events.length, 0);
    await journal.commit(
      {
        tenant: system.tenant,
        session,
        causation: 'cancelled-by-the-test',
        actor: 'test',
        at: new Date().toISOString(),
        events: [
          {
            type: 'turn.cancelling',
            sequence,
            version: 1,
            data: { turn: 1, reason: 'cancelled', by: 'test' },
          },
        ],
      },
      last?.streamSequence ?? 0,
    );
    await eventually(() => Promise.resolve(models.closed === closed + 1), 3_000);
    expect(await endOf(session, messageId)).toMatchObject({ kind: 'aborted' });
    expect(await answersOf(session)).toMatchObject([
      { content: [{ type: 'text', text: 'Once upon a ti' }], finishReason: 'aborted', usage: { estimated: 'aborted' } },
    ]);
    expect(models.calls).toEqual(['a']);
  });

  it('R47 what a provider echoes of the prompt, and the key, is in no error, log or dead letter', async () => {
    const letters = await collectDead(system);
    models.plan({ a: [{ status: 400, message: `bad request: ${CANARY} (key ${KEY}, Bearer ${KEY})` }] });
    const { messageId } = await create('canary', CANARY);
    expect(await endOf('canary', messageId)).toMatchObject({ kind: 'error', code: 'bad_request' });
    expect(JSON.stringify(models.requests[0]?.body)).toContain(CANARY);
    expect(models.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    // A command that cannot be carried out is given up, with what it says.
    await system.bus.publisher.publish(`cmd.llm.${system.tenant}`, Buffer.from('{"commandId":"no command"}'));
    await eventually(() => Promise.resolve(letters.texts.length > 0));
    letters.stop();
    const log = await logOf(system.client, 'canary');
    const facts = log.filter(isKnownEvent).filter(({ type }) => type === 'turn.error' || type === 'turn.end');
    expect(facts).toHaveLength(2);
    const texts = [
      ...facts.map((fact) => JSON.stringify(fact)),
      ...letters.texts,
      ...routers.flatMap(({ lines }) => lines),
    ];
    expect(routers.flatMap(({ lines }) => lines).some((line) => line.includes('model attempt'))).toBe(true);
    for (const secret of [CANARY, KEY, CANARY.slice(4, 24), KEY.slice(3, 15)]) {
      expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    }
  });
});

async function pending(system: ProcessSystem): Promise<number> {
  const info = await system.bus.api<{ num_pending: number; num_ack_pending: number }>(
    'CONSUMER.INFO.COMMANDS.llm-router',
  );
  return info.num_pending + info.num_ack_pending;
}

/** Dead letters from now on. */
async function collectDead(system: ProcessSystem): Promise<{ texts: string[]; stop: () => void }> {
  const texts: string[] = [];
  const spy = system.bus.nats.subscribe('dead.>', {
    callback: (_error, message) => texts.push(Buffer.from(message.data).toString('utf8')),
  });
  await system.bus.nats.flush();
  return {
    texts,
    stop: () => {
      spy.unsubscribe();
    },
  };
}

async function eventually(isTrue: () => Promise<boolean>, milliseconds = 15_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`expected it within ${milliseconds} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
