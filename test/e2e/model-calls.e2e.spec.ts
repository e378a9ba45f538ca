import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LiveDelta } from '@jetloop/contracts';
import type { CatalogueInput } from '@jetloop/llm-router';
import { CooldownStore } from '@jetloop/messaging';
import type { ReplayDialect } from '@jetloop/testing';
import { FakeModels, type Reaction } from './support/fake-models.js';
import { DIALECTS } from './support/provider-system.js';
import type { TestSession } from './support/test-session.js';
import { TestSystem } from './support/test-system.js';

const toolCall: Reaction = { calls: [{ name: 'read_file', arguments: '{"path":"there.txt"}' }] };
const overloaded: Reaction = { status: 503 };
const limited: Reaction = { status: 429, after: '4.9' };
/** What the attempts of a call show that was cut while it waited. */
const WAITED = {
  retries: [{ why: 'primary', outcome: 'error', error: { code: 'rate_limited' } }],
  cools: [{ outcome: 'skipped', error: { code: 'all_targets_cooling' } }],
};
/** The first words of an answer that then falls silent. */
const halfAnAnswer: Reaction = { text: 'Once upon a time', hangsAfter: 2 };

const schema = { type: 'object', properties: { failing: { type: 'integer' } }, required: ['failing'] };
/** How a dialect is asked for an object. */
const ASKED_FOR: Record<ReplayDialect, object> = {
  chat: { response_format: { type: 'json_schema', json_schema: { schema } } },
  anthropic: { output_config: { format: { type: 'json_schema', schema } } },
  google: { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } },
};

describe('the model calls of a turn', () => {
  let models: FakeModels;
  let system: TestSystem;
  let rests: CooldownStore;

  beforeAll(async () => {
    models = await FakeModels.start();
    const targets: CatalogueInput['targets'] = {};
    for (const dialect of DIALECTS) {
      const add = (model: string, more: Partial<CatalogueInput['targets'][string]> = {}) => {
        const target = { provider: 'fake', dialect, model, baseUrl: models.url, prices: { input: 1, output: 2 } };
        targets[`${dialect}-${model}`] = { ...target, retryCount: 0, cooldown: 0, ...more };
      };
      add('a');
      add('b');
      add('whole', { stream: false });
      add('patient', { retryCount: 3, jitterBackoff: 5 });
      add('slow', { throttleDelay: 60_000 });
      add('retries', { retryCount: 1, jitterBackoff: 0 });
      add('cools');
    }
    system = await TestSystem.start({ targets });
    rests = await CooldownStore.open(system.bus);
    await writeFile(join(system.workspace, 'there.txt'), 'what stands there');
  });
  afterAll(async () => {
    rests.close();
    await system.stop();
    await models.stop();
  });

  describe.each(DIALECTS)('%s', (dialect) => {
    const named = (model: string) => `${dialect}-${model}`;
    const agent = (
      chain: string[],
      { fallback = true, ...more }: { fallback?: boolean; limits?: { maxSteps: number } } = {},
    ) =>
      system.create(named('a'), {
        model: { chain: chain.map(named), fallback },
        tools: ['read_file', 'bash'],
        ...more,
      });
    const start = async (session: TestSession) => (await system.client.prompt(session.id, 'go')).messageId;
    const attemptsOf = async (session: TestSession) =>
      (await session.data('assistant.message')).flatMap(({ attempts }) => attempts);
    const within = async (milliseconds: number, isTrue: () => boolean) => {
      const started = Date.now();
      while (!isTrue()) {
        if (Date.now() - started > milliseconds) return false;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return true;
    };

    /** The router's replies to a session, from now on. */
    const repliesTo = (session: TestSession) => {
      const replies: unknown[] = [];
      system.bus.nats.subscribe(`cmd.session.${system.tenant}.${session.id}.llm`, {
        callback: (_error, message) => replies.push(message.json()),
      });
      return replies;
    };
    /** A turn that is cancelled may end before the router's reply. */
    const hasOne = async (replies: readonly unknown[]) => {
      await within(20_000, () => replies.length > 0);
      expect(replies).toHaveLength(1);
    };

    it('R15 a model that calls tools for ever, maxSteps 2: two calls', async () => {
      models.plan({ a: [toolCall] });
      const session = await agent(['a'], { limits: { maxSteps: 2 } });
      expect(await session.prompt('go')).toEqual({ kind: 'max-steps' });
      expect(models.calls).toEqual(['a', 'a']);
    });

    it('R16 an abort before the call: aborted, and the provider is not called', async () => {
      models.plan({ slow: [{ text: 'too late' }] });
      const session = await agent(['slow']);
      const replies = repliesTo(session);
      const messageId = await start(session);
      await session.until('step.start');
      await system.client.cancel(session.id);
      expect(await session.endOf(messageId)).toMatchObject({ kind: 'aborted' });
      await hasOne(replies);
      expect(models.calls).toEqual([]);
    });

    it('R16 an abort in tool 1 of 2: aborted, and tool 2 never runs', async () => {
      const touch = (file: string, first = '') => ({
        name: 'bash',
        arguments: JSON.stringify({ command: `${first}touch ${named(file)}` }),
      });
      models.plan({
        a: [
          {
            calls: [
              { ...touch('one', `touch ${named('begun')}; sleep 20; `), id: 'c1' },
              { ...touch('two'), id: 'c2' },
            ],
          },
        ],
      });
      const session = await agent(['a']);
      const messageId = await start(session);
      await eventually(() => access(join(system.workspace, named('begun'))));
      await system.client.cancel(session.id);
      expect(await session.endOf(messageId)).toMatchObject({ kind: 'aborted' });
      await expect(access(join(system.workspace, named('two')))).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(access(join(system.workspace, named('one')))).rejects.toMatchObject({ code: 'ENOENT' });
      expect(models.calls).toEqual(['a']);
    });

    describe('R17 object mode', () => {
      const ask = async (session: TestSession) => session.prompt('How many fail?', { output: { schema } });

      it.each(['a', 'whole'])('the answer is one json block, and no tools are told of (%s)', async (model) => {
        models.plan({ [model]: [{ text: ' {"failing": 3}\n' }] });
        const session = await agent([model]);
        expect(await ask(session)).toEqual({ kind: 'completed' });
        expect((await session.data('assistant.message'))[0]?.content).toEqual([
          { type: 'json', value: { failing: 3 } },
        ]);
        expect(models.requests[0]?.body).not.toHaveProperty('tools');
        expect(models.requests[0]?.body).toMatchObject(ASKED_FOR[dialect]);
      });

      it('a misfit is object_decode at once, without the value', async () => {
        models.plan({ a: [{ text: '{"failing": "canary"}' }], b: [{ text: '{"failing": 1}' }] });
        const session = await agent(['a', 'b']);
        expect(await ask(session)).toMatchObject({ kind: 'error', code: 'object_decode' });
        expect(models.calls).toEqual(['a']);
        const [error] = await session.data('turn.error');
        expect(error?.error.message).toContain('#/properties/failing/type');
        expect(JSON.stringify(error)).not.toContain('canary');
        expect(error?.attempts).toMatchObject([{ usage: { input: 10, output: 5 } }]);
      });

      it('a schema that cannot be checked in time, or ever, is object_decode, and the router goes on', async () => {
        const backtracks = { type: 'object', properties: { word: { pattern: '^(a+)+$' } } };
        const said = { text: JSON.stringify({ word: `${'a'.repeat(32)}!` }) };
        for (const endless of [backtracks, { $ref: '#' }]) {
          models.plan({ a: [said], b: [{ text: '{"failing": 1}' }] });
          const session = await agent(['a', 'b']);
          const end = await session.prompt('Which?', { output: { schema: endless } });
          expect(end).toMatchObject({ kind: 'error', code: 'object_decode' });
          expect((await session.data('turn.error'))[0]?.error.message).toContain('could not be checked');
          expect(models.calls).toEqual(['a']);
          expect(await ask(await agent(['b']))).toEqual({ kind: 'completed' });
        }
      });

      it('what is no JSON is protocol, and falls back', async () => {
        models.plan({ a: [{ text: 'Three of them.' }], b: [{ text: '{"failing": 3}' }] });
        const session = await agent(['a', 'b']);
        expect(await ask(session)).toEqual({ kind: 'completed' });
        const [first, second] = await attemptsOf(session);
        expect(first).toMatchObject({ target: named('a'), outcome: 'error', error: { code: 'protocol' } });
        expect(second).toMatchObject({ target: named('b'), outcome: 'ok' });
      });

      it('an abort keeps the partial text', async () => {
        models.plan({ a: [{ text: '{"failing": 3, "and": "more"}', hangsAfter: 2 }] });
        const session = await agent(['a']);
        const said = session.said();
        const { messageId } = await system.client.prompt(session.id, 'How many?', { output: { schema } });
        await said;
        await system.client.cancel(session.id);
        expect(await session.endOf(messageId)).toMatchObject({ kind: 'aborted' });
        expect((await session.data('assistant.message'))[0]).toMatchObject({
          finishReason: 'aborted',
          content: [{ type: 'text', text: '{"failing": 3,' }],
        });
      });

      it('a schema that is none is refused before any call', async () => {
        models.plan({ a: [{ text: '{}' }] });
        const session = await agent(['a']);
        const end = await session.prompt('go', { output: { schema: { type: 'no such type' } } });
        expect(end).toMatchObject({ kind: 'error', code: 'bad_request' });
        expect(models.calls).toEqual([]);
      });
    });

    it('R18 of ten turns with one 503 in turn 4, that turn moves once and stays; the others use the primary', async () => {
      const steps = Array.from({ length: 10 }, () => [toolCall, { text: 'done' }]);
      models.plan({
        a: [...steps.slice(0, 3).flat(), overloaded, ...steps.slice(4).flat()],
        b: [toolCall, { text: 'from b' }],
      });
      const session = await agent(['a', 'b']);
      for (let turn = 1; turn <= 10; turn++) expect(await session.prompt('go')).toEqual({ kind: 'completed' });
      const twice = (count: number) => Array.from({ length: count * 2 }, () => 'a');
      expect(models.calls).toEqual([...twice(3), 'a', 'b', 'b', ...twice(6)]);
    });

    it('R23 fallback false: only the first of the order', async () => {
      models.plan({ a: [overloaded], b: [{ text: 'never' }] });
      const session = await agent(['a', 'b'], { fallback: false });
      expect(await session.prompt('go')).toMatchObject({ kind: 'error', code: 'overloaded' });
      expect(models.calls).toEqual(['a']);
    });

    it('R48 an error after two tool rounds repeats this call alone', async () => {
      models.plan({ patient: [toolCall, toolCall, overloaded, { text: 'done' }] });
      const session = await agent(['patient']);
      expect(await session.prompt('go')).toEqual({ kind: 'completed' });
      expect(models.calls).toHaveLength(4);
      expect(models.requests[3]?.body).toEqual(models.requests[2]?.body);
      expect(await session.data('tool.result')).toHaveLength(2);
      expect((await session.data('assistant.message'))[2]?.attempts).toMatchObject([
        { why: 'primary', outcome: 'error', error: { code: 'overloaded' } },
        { why: 'retry', outcome: 'ok' },
      ]);
    });

    describe('R45 an abort', () => {
      /** Cancels a call that has reached its provider: its connection is closed in so many milliseconds, and its turn ends. */
      const cancelOpenCall = async (session: TestSession, messageId: string, closesWithin: number) => {
        const { closed } = models;
        await system.client.cancel(session.id);
        expect(await within(closesWithin, () => models.closed === closed + 1)).toBe(true);
        expect(await session.endOf(messageId)).toMatchObject({ kind: 'aborted' });
      };

      it('before the first byte closes the connection in a second, and nothing later is tried', async () => {
        models.plan({ a: [{ headPauseMs: 20_000, body: '{}' }], b: [{ text: 'never' }] });
        const session = await agent(['a', 'b']);
        const replies = repliesTo(session);
        const messageId = await start(session);
        await models.seen(1);
        await cancelOpenCall(session, messageId, 1_000);
        await hasOne(replies);
        expect(models.calls).toEqual(['a']);
        const [answer] = await session.data('assistant.message');
        expect(answer).toMatchObject({ finishReason: 'aborted', usage: { estimated: 'aborted' } });
      });

      it('in a whole body closes the connection: one reply, its usage estimated', async () => {
        const half = { headers: { 'content-type': 'application/json' }, chunks: ['{"id": ', 'hang' as const] };
        models.plan({ whole: [half], b: [{ text: 'never' }] });
        const session = await agent(['whole', 'b']);
        const replies = repliesTo(session);
        const messageId = await start(session);
        await models.seen(1);
        await cancelOpenCall(session, messageId, 20_000);
        await hasOne(replies);
        expect(models.calls).toEqual(['whole']);
        expect((await session.data('assistant.message'))[0]).toMatchObject({
          content: [],
          finishReason: 'aborted',
          usage: { estimated: 'aborted', output: 0 },
          attempts: [{ target: named('whole'), outcome: 'aborted' }],
        });
      });

      it('mid-stream: one reply with the partial text, its usage estimated', async () => {
        models.plan({ a: [halfAnAnswer], b: [{ text: 'never' }] });
        const session = await agent(['a', 'b']);
        const replies = repliesTo(session);
        const deltas: LiveDelta[] = [];
        const stop = system.client.live(session.id, (delta) => deltas.push(delta), 'delta');
        const said = session.said();
        const messageId = await start(session);
        await said;
        await cancelOpenCall(session, messageId, 1_000);
        stop();
        await hasOne(replies);
        expect(models.calls).toEqual(['a']);
        const [answer] = await session.data('assistant.message');
        expect(answer).toMatchObject({
          content: [{ type: 'text', text: 'Once upon a ti' }],
          finishReason: 'aborted',
          usage: { estimated: 'aborted' },
          attempts: [{ target: named('a'), outcome: 'aborted' }],
        });
        expect(answer?.cost).toBeGreaterThan(0);
        expect(deltas.map(({ kind }) => kind).at(-1)).toBe('end');
      });

      it.each(['retries', 'cools'] as const)(
        'while it waits (%s) ends at once, without another call',
        async (model) => {
          models.plan({ [model]: [limited, { text: 'never' }], a: [{ text: 'Hi' }] });
          const session = await agent([model]);
          const replies = repliesTo(session);
          if (model === 'cools') await (await agent([model])).prompt('go');
          const messageId = await start(session);
          // The rest is written behind the 429, and a later command is asked behind an earlier one: now it waits.
          await within(20_000, () => rests.find(named(model))?.code === 'rate_limited');
          expect(await (await agent(['a'])).prompt('go')).toEqual({ kind: 'completed' });
          await system.client.cancel(session.id);
          expect(await session.endOf(messageId)).toMatchObject({ kind: 'aborted' });
          await hasOne(replies);
          expect(replies).toMatchObject([
            { result: { status: 'error', error: { code: 'aborted' }, attempts: WAITED[model] } },
          ]);
          expect(models.calls).toEqual([model, 'a']);
        },
      );
    });
  });
});

async function eventually(attempt: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (tries > 400) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
