import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { deadLetterSchema, type Attempt, type LlmCommand } from '@jetloop/contracts';
import type { CatalogueInput } from '@jetloop/llm-router';
import { Journal } from '@jetloop/messaging';
import { dialectOf, type ServiceProcess } from '@jetloop/testing';
import { FakeModels, type React, type Reaction } from '../e2e/support/fake-models.js';
import { DIALECTS } from '../e2e/support/provider-system.js';
import { ECHOES, echoing, heldBy, leaksIn, SECRETS } from './support/echoes.js';
import { ProcessSystem } from './support/process-system.js';
import { metricsOf, valuesOf } from './support/service-metrics.js';
import { logOf, problemsOf } from './support/session-log.js';
import { Wiretap } from './support/wiretap.js';

jest.setTimeout(60_000);

const halfAnAnswer: Reaction = { text: 'Once upon a time', hangsAfter: 2 };
const image = { type: 'image' as const, mediaType: 'image/png', base64: SECRETS.image };

describe('a router as a process of its own', () => {
  let models: FakeModels;
  let system: ProcessSystem;
  let router: ServiceProcess;
  let killed = 0;
  const processes: ServiceProcess[] = [];
  const spawn = async (service: string, env: Record<string, string> = {}) => {
    const started = await system.spawn(service, { LOG_LEVEL: 'debug', JETLOOP_HTTP_PORT: '0', ...env });
    processes.push(started);
    return started;
  };
  const spawnRouter = async () => {
    router = await spawn('llm-router', { ROUTER_TEST_KEY: SECRETS.key });
  };

  beforeAll(async () => {
    models = await FakeModels.start();
    const targets: CatalogueInput['targets'] = {};
    for (const dialect of DIALECTS) {
      const target = { provider: 'fake', dialect, baseUrl: models.url, apiKeyEnv: 'ROUTER_TEST_KEY', jitterBackoff: 5 };
      const add = (name: string, more: Partial<CatalogueInput['targets'][string]> = {}) => {
        targets[name] = { ...target, model: name, prices: { input: 1, output: 2 }, ...more };
      };
      const seeing = { capabilities: { vision: true }, retryCount: 0 };
      add(dialect);
      add(`${dialect}-busy`, { ...seeing, retryCount: 1 });
      add(`${dialect}-sees`, seeing);
      add(`${dialect}-whole`, { ...seeing, stream: false });
    }
    system = await ProcessSystem.start({ targets });
    await Promise.all([spawn('loop-orchestrator'), spawnRouter()]);
  });
  afterAll(async () => {
    await system.stop();
    await models.stop();
  });

  const create = (session: string, target: string, prompt: string) =>
    system.client.create({ session, agent: system.agent(target), workspace: system.folder, prompt });
  const endOf = async (session: string, messageId: string) =>
    (await system.client.turnOf(session, messageId, { signal: AbortSignal.timeout(30_000) })).reason;
  const answersOf = async (session: string) =>
    (await logOf(system.client, session)).flatMap((event) => (event.type === 'assistant.message' ? [event.data] : []));
  const errorsOf = async (session: string) =>
    (await logOf(system.client, session)).flatMap((event) => (event.type === 'turn.error' ? [event.data] : []));
  /** Sessions in which a model of each dialect has said half an answer. */
  const half = async (name: string) => {
    const sessions = DIALECTS.map((dialect) => `${name}-${dialect}`);
    const said = sessions.map((session) => new Promise((resolve) => system.client.live(session, resolve, 'delta')));
    const created = await Promise.all(
      DIALECTS.map((dialect) => create(`${name}-${dialect}`, dialect, 'Tell me a story')),
    );
    await Promise.all(said);
    return created;
  };

  it('R46 killed mid-stream: one answer, the lost try among its attempts; the same command again makes no call', async () => {
    models.plan(Object.fromEntries(DIALECTS.map((dialect) => [dialect, [halfAnAnswer, { text: 'The end.' }]])));
    const commands = await Wiretap.on(system.bus, `cmd.llm.${system.tenant}`);
    const created = await half('killed');
    router.kill9();
    expect(await router.exited).toBe('SIGKILL');
    killed = router.pid;
    await spawnRouter();
    for (const [n, { session, messageId }] of created.entries()) {
      const target = DIALECTS[n];
      expect(await endOf(session, messageId)).toEqual({ kind: 'completed' });
      const answers = await answersOf(session);
      const lost = { outcome: 'unknown', error: { code: 'network' }, usage: { estimated: 'missing' } };
      expect(answers).toMatchObject([
        {
          content: [{ type: 'text', text: 'The end.' }],
          attempts: [
            { target, why: 'primary', ...lost },
            { target, why: 'retry', outcome: 'ok' },
          ],
        },
      ]);
      expect(answers[0]?.attempts[0]?.usage?.input).toBeGreaterThan(0);
      expect(answers[0]?.cost).toBeGreaterThan(answers[0]?.attempts[1]?.cost ?? Infinity);
      expect(problemsOf(await logOf(system.client, session))).toEqual([]);
    }
    commands.stop();
    expect(commands.bodies).toHaveLength(DIALECTS.length);
    const before = await Promise.all(created.map(async ({ session }) => (await logOf(system.client, session)).length));
    for (const command of commands.bodies)
      await system.bus.publisher.publish(`cmd.llm.${system.tenant}`, Buffer.from(command));
    await eventually(async () => (await pending(system)) === 0);
    expect([...models.calls].sort()).toEqual([...DIALECTS, ...DIALECTS].sort());
    const after = await Promise.all(created.map(async ({ session }) => (await logOf(system.client, session)).length));
    expect(after).toEqual(before);
  });

  it('R45 an abort whose message got lost is found in the log, and closes the connection', async () => {
    models.plan(Object.fromEntries(DIALECTS.map((dialect) => [dialect, [halfAnAnswer, { text: 'never' }]])));
    const journal = new Journal(system.bus);
    const created = await half('lost-abort');
    const { closed } = models;
    // The fact alone, as it stands when the message about it was lost.
    for (const { session } of created) {
      const commits = await journal.load(system.tenant, session);
      const sequence = commits.reduce((count, { commit }) => count + commit.events.length, 0);
      const data = { turn: 1, reason: 'cancelled', by: 'test' } as const;
      const at = new Date().toISOString();
      const events = [{ type: 'turn.cancelling' as const, sequence, version: 1, data }];
      const commit = { tenant: system.tenant, session, causation: 'by-the-test', actor: 'test', at, events };
      await journal.commit(commit, commits.at(-1)?.streamSequence ?? 0);
    }
    await eventually(() => Promise.resolve(models.closed === closed + DIALECTS.length), 15_000);
    for (const { session, messageId } of created) {
      expect(await endOf(session, messageId)).toMatchObject({ kind: 'aborted' });
      const content = [{ type: 'text', text: 'Once upon a ti' }];
      expect(await answersOf(session)).toMatchObject([
        { content, finishReason: 'aborted', usage: { estimated: 'aborted' } },
      ]);
    }
    expect([...models.calls].sort()).toEqual([...DIALECTS].sort());
  });

  it('every attempt is a line in the log and counts in the metrics, and the reply says why it was made', async () => {
    const attempts: Attempt[] = [];
    const before = await metricsOf(router);
    for (const dialect of DIALECTS) {
      const chain = ['nobody', dialect, `${dialect}-busy`, `${dialect}-sees`];
      const [, blind, busy, sees] = chain;
      models.plan({
        [`${dialect}-busy`]: [{ status: 503 }],
        [`${dialect}-sees`]: [{ calls: [{ name: 'launch_rocket' }] }, { text: 'A cat.' }],
      });
      const session = `seen-${dialect}`;
      const replies = await Wiretap.on(system.bus, `cmd.session.${system.tenant}.${session}.llm`);
      const agent = system.agent(dialect, { model: { chain } });
      const { messageId } = await system.client.create({ session, agent, workspace: system.folder, prompt: [image] });
      expect(await endOf(session, messageId)).toEqual({ kind: 'completed' });
      replies.stop();
      const answers = await answersOf(session);
      const made = answers.flatMap((answer) => answer.attempts);
      expect(made.map(({ target, why, outcome, error }) => [target, why, outcome, error?.code])).toEqual([
        ['nobody', 'primary', 'skipped', 'no_targets'],
        [blind, 'fallback', 'skipped', 'unsupported_capability'],
        [busy, 'fallback', 'error', 'overloaded'],
        [busy, 'retry', 'error', 'overloaded'],
        [sees, 'fallback', 'ok', undefined],
        [sees, 'sticky', 'ok', undefined],
      ]);
      const replied = replies.bodies.map((body): unknown => JSON.parse(body));
      expect(replied).toMatchObject(answers.map((answer) => ({ result: { attempts: answer.attempts } })));
      attempts.push(...made);
    }
    const lines = router.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const { attemptId, target, why, outcome, error, usage: tokens, durationMs } of attempts) {
      const [line, ...others] = lines.filter((each) => each['attemptId'] === attemptId);
      expect(others).toEqual([]);
      const { code, status } = error ?? {};
      expect(line).toMatchObject({ msg: 'model attempt', tenant: system.tenant, turn: 1, purpose: 'step', target });
      expect([line?.['why'], line?.['outcome']]).toEqual([why, outcome]);
      expect([line?.['code'], line?.['status'], line?.['tokens']]).toEqual([code, status, tokens]);
      expect(Math.abs(Number(line?.['durationMs']) - durationMs)).toBeLessThan(0.1);
      expect(line).not.toHaveProperty('message');
    }
    const after = await metricsOf(router);
    const counted = (name: string, labels: string) =>
      (valuesOf(after, name).get(labels) ?? 0) - (valuesOf(before, name).get(labels) ?? 0);
    const total = (target: string, outcome: string, code: string) =>
      counted('jetloop_model_attempts_total', `target=${target},outcome=${outcome},code=${code}`);
    expect(total('(unknown)', 'skipped', 'no_targets')).toBe(DIALECTS.length);
    for (const dialect of DIALECTS) {
      expect(total(dialect, 'skipped', 'unsupported_capability')).toBe(1);
      expect(total(`${dialect}-busy`, 'error', 'overloaded')).toBe(2);
      expect(total(`${dialect}-sees`, 'ok', 'ok')).toBe(2);
      expect(counted('jetloop_model_attempt_duration_seconds_count', `target=${dialect}-busy`)).toBe(2);
      expect(counted('jetloop_model_first_token_seconds_count', `target=${dialect}-sees`)).toBe(2);
    }
  });

  it('R47 what a provider echoes of the prompt, and the key, is in no error, log, metric or dead letter', async () => {
    const held: string[][] = [];
    const plan: React = (request, calls) => {
      if (calls === 0) return { calls: [{ name: 'launch_rocket', arguments: `{"note":"${SECRETS.arguments}"}` }] };
      if (calls === 1) return { text: SECRETS.answer };
      held.push(heldBy(request));
      return echoing(ECHOES[calls - 2]!, dialectOf(request.path), request);
    };
    const targets = DIALECTS.flatMap((dialect) => [`${dialect}-sees`, `${dialect}-whole`]);
    models.plan(Object.fromEntries(targets.map((target) => [target, plan])));
    const prompt = [{ type: 'text' as const, text: `Look: ${SECRETS.prompt}` }, image];
    for (const target of targets) {
      const session = `canary-${target}`;
      const agent = system.agent(target, { systemPrompt: `You: ${SECRETS.system}.` });
      const { messageId } = await system.client.create({ session, agent, workspace: system.folder, prompt });
      expect(await endOf(session, messageId)).toEqual({ kind: 'completed' });
    }
    const { tenant } = system;
    const said = await Wiretap.on(system.bus, `live.${tenant}.>`, `cmd.session.${tenant}.*.llm`, 'dead.>');
    const commands = await Wiretap.on(system.bus, `cmd.llm.${tenant}`);
    const properties = { colour: { type: 'string', description: SECRETS.schema } };
    const output = { schema: { type: 'object', properties } };
    for (const _ of ECHOES) {
      await Promise.all(
        targets.map(async (target) => {
          const { messageId } = await system.client.prompt(`canary-${target}`, 'Go on', { output });
          expect(await endOf(`canary-${target}`, messageId)).toMatchObject({ kind: 'error' });
        }),
      );
    }
    // Each of them got all of it, and said it.
    expect(held).toHaveLength(targets.length * ECHOES.length);
    for (const names of held) expect(names).toEqual(Object.keys(SECRETS));

    // A command is given up before its session is read, and one behind it.
    const letters = await Wiretap.on(system.bus, `dead.llm-router.${tenant}`);
    const { output: _asked, ...command } = JSON.parse(commands.bodies[0]!) as LlmCommand;
    const unreadable = JSON.stringify({ ...command, output, purpose: 'another' });
    const unfounded = JSON.stringify({ ...command, commandId: 'unfounded', turn: 99, purpose: 'compaction' });
    for (const body of [unreadable, unfounded])
      await system.bus.publisher.publish(`cmd.llm.${tenant}`, Buffer.from(body));
    await eventually(() => Promise.resolve(letters.bodies.length === 2));
    expect(leaksIn(unreadable)).toEqual(['schema']);
    const given = letters.bodies.map((body) => deadLetterSchema.parse(JSON.parse(body)));
    expect(given).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: 'invalid', body: expect.objectContaining({ size: unreadable.length }) }),
        expect.objectContaining({ code: 'invalid', body: { text: unfounded } }),
      ]),
    );

    const errors = (await Promise.all(targets.map((target) => errorsOf(`canary-${target}`)))).flat();
    expect(errors).toHaveLength(held.length);
    expect(errors.filter(({ error }) => /^Bad input: \[(…|key)\]/.test(error.message)).length).toBe(2 * targets.length);
    const metrics = await Promise.all(processes.filter(({ pid }) => pid !== killed).map(metricsOf));
    expect(metrics.join()).toContain('jetloop_model_attempts_total');
    const lines = processes.flatMap((process) => process.lines);
    for (const text of [...errors.map((error) => JSON.stringify(error)), ...said.bodies, ...metrics, ...lines])
      expect([leaksIn(text), text]).toEqual([[], text]);
    said.stop();
    commands.stop();
    letters.stop();
  });
});

async function pending(system: ProcessSystem): Promise<number> {
  const info = await system.bus.api<{ num_pending: number; num_ack_pending: number }>(
    'CONSUMER.INFO.COMMANDS.llm-router',
  );
  return info.num_pending + info.num_ack_pending;
}

async function eventually(isTrue: () => Promise<boolean>, milliseconds = 15_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`expected it within ${milliseconds} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
