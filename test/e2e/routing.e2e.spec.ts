import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { InputBlock } from '@jetloop/contracts';
import type { CatalogueInput } from '@jetloop/llm-router';
import { deriveMessages } from '@jetloop/session';
import type { ReplayDialect } from '@jetloop/testing';
import { FakeModels, type Reaction } from './support/fake-models.js';
import { DIALECTS } from './support/provider-system.js';
import { RouterReplica } from './support/router-replica.js';
import type { TestSession } from './support/test-session.js';
import { TestSystem } from './support/test-system.js';

const PNG = 'iVBORw0KGgo=';
const HEIC = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heic', 'latin1').toString('base64');
const imageUrl: InputBlock = { type: 'image', mediaType: 'image/png', url: 'https://images.example/cat.png' };
const heic: InputBlock = { type: 'image', mediaType: 'image/heic', base64: HEIC };
const look: InputBlock = { type: 'text', text: 'What is in it?' };

const toolCall: Reaction = { calls: [{ name: 'read_file', arguments: '{"path":"there.txt"}' }], usage: [50, 10] };
const overloaded: Reaction = { status: 503 };
const sees = { vision: true, imageUrls: true };

const FORMS = DIALECTS.flatMap((dialect) => (['streamed', 'whole'] as const).map((form) => [dialect, form] as const));
/** The second request of a tool round: a call of `name` by the model, and what came of it, which holds `result`. */
const ROUND: Record<ReplayDialect, (name: string, result: string) => object> = {
  chat: (name, result) => ({
    messages: [
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name } }] },
      { role: 'tool', content: holding(result) },
    ],
  }),
  anthropic: (name, result) => ({
    messages: [
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool_use', name }] },
      { role: 'user', content: [{ type: 'tool_result', content: holding(result) }] },
    ],
  }),
  google: (name, result) => ({
    contents: [
      { role: 'user' },
      { role: 'model', parts: [{ functionCall: { name } }] },
      { role: 'user', parts: [{ functionResponse: { name, response: holding(result) } }] },
    ],
  }),
};

describe('chains of targets', () => {
  let models: FakeModels;
  let system: TestSystem;
  let replica: RouterReplica;
  beforeAll(async () => {
    models = await FakeModels.start();
    const targets: CatalogueInput['targets'] = {};
    for (const [dialect, form] of FORMS) {
      const add = (model: string, more: Partial<CatalogueInput['targets'][string]> = {}) => {
        const target = { provider: 'fake', dialect, model, baseUrl: models.url, stream: form === 'streamed' };
        targets[`${dialect}-${form}-${model}`] = { ...target, retryCount: 0, cooldown: 0, ...more };
      };
      for (const model of ['a', 'b', 'c']) add(model);
      add('sees', { capabilities: sees });
      // Of all dialects only this one takes them.
      add('heic', { dialect: 'google', capabilities: { vision: true, imageMediaTypes: 'supported' } });
    }
    system = await TestSystem.start({ targets });
    replica = await RouterReplica.start(system, targets);
    await writeFile(join(system.workspace, 'there.txt'), 'what stands there');
  });
  afterAll(async () => {
    await replica.stop();
    await system.stop();
    await models.stop();
  });

  describe.each(FORMS)('%s, %s', (dialect, form) => {
    const named = (model: string) => `${dialect}-${form}-${model}`;
    const agent = (...chain: string[]) =>
      system.create(named(chain[0] ?? ''), { model: { chain: chain.map(named) }, tools: ['read_file'] });
    const messagesOf = async (session: TestSession) => deriveMessages(await session.events());
    const textsOf = async (session: TestSession) =>
      (await session.data('assistant.message')).flatMap(({ content }) =>
        content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
      );

    it('R1 plain text is one message, and its usage is what the provider counted', async () => {
      models.plan({ a: [{ text: 'Blue, mostly.' }] });
      const session = await agent('a');
      expect(await session.prompt('Which colour?')).toEqual({ kind: 'completed' });
      const answers = await session.data('assistant.message');
      expect(answers).toMatchObject([{ content: [{ type: 'text', text: 'Blue, mostly.' }], finishReason: 'stop' }]);
      expect(answers[0]?.usage).toEqual({ input: 10, cacheRead: 0, cacheWrite: 0, output: 5 });
      expect(models.calls).toEqual(['a']);
    });

    it('R2 one target that answers 500 is that error', async () => {
      models.plan({ a: [{ status: 500, message: 'it broke' }] });
      const session = await agent('a');
      expect(await session.prompt('hello')).toMatchObject({ kind: 'error', code: 'server_error' });
      expect(await session.data('turn.error')).toMatchObject([
        {
          error: { message: 'it broke' },
          attempts: [{ target: named('a'), outcome: 'error', error: { status: 500 } }],
        },
      ]);
      expect(models.calls).toEqual(['a']);
    });

    it('R3 a tool round: call and result are in request 2, three messages are new, and usage adds up', async () => {
      models.plan({ a: [toolCall, { text: 'It says so.', usage: [80, 15] }] });
      const session = await agent('a');
      await session.prompt('read it');
      expect(models.requests[1]?.body).toMatchObject(ROUND[dialect]('read_file', 'what stands there'));
      expect((await messagesOf(session)).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
      const usages = (await session.data('assistant.message')).map(({ usage }) => usage);
      const total = (key: 'input' | 'output') => usages.reduce((sum, usage) => sum + (usage?.[key] ?? NaN), 0);
      expect([total('input'), total('output')]).toEqual([130, 25]);
    });

    it.each([503, 400])('R4 %i falls back', async (status) => {
      models.plan({ a: [{ status }], b: [{ text: 'from b' }] });
      const session = await agent('a', 'b');
      expect(await session.prompt('hello')).toEqual({ kind: 'completed' });
      expect(models.calls).toEqual(['a', 'b']);
      expect(await session.data('assistant.message')).toMatchObject([
        {
          model: { target: named('b') },
          attempts: [
            { target: named('a'), why: 'primary', outcome: 'error', error: { status } },
            { target: named('b'), why: 'fallback', outcome: 'ok' },
          ],
        },
      ]);
    });

    it('R5 of 503, then 400, the 400 is reported', async () => {
      models.plan({ a: [overloaded], b: [{ status: 400, message: 'not like this' }] });
      const session = await agent('a', 'b');
      expect(await session.prompt('hello')).toMatchObject({ kind: 'error', code: 'bad_request' });
      expect(await session.data('turn.error')).toMatchObject([{ error: { message: 'not like this' } }]);
      expect(models.calls).toEqual(['a', 'b']);
    });

    const r6 = { a: [overloaded], b: [toolCall, { text: 'Exactly this: “día” 🌊.\n' }] };
    const r7 = { a: [overloaded, { text: 'back at a' }], b: [toolCall, overloaded], c: [overloaded] };

    it('R6 the fallback that answered goes on: primary, fallback, fallback, and its exact text', async () => {
      models.plan(r6);
      const session = await agent('a', 'b');
      expect(await session.prompt('go')).toEqual({ kind: 'completed' });
      expect(models.calls).toEqual(['a', 'b', 'b']);
      expect(await textsOf(session)).toEqual(['Exactly this: “día” 🌊.\n']);
      expect((await session.data('assistant.message'))[1]?.attempts).toMatchObject([
        { target: named('b'), why: 'sticky' },
      ]);
    });

    it('R7 rotations compose: a fails in step 1, b after it, c always', async () => {
      models.plan(r7);
      const session = await agent('a', 'b', 'c');
      expect(await session.prompt('go')).toEqual({ kind: 'completed' });
      expect(models.calls).toEqual(['a', 'b', 'b', 'c', 'a']);
      expect(await textsOf(session)).toEqual(['back at a']);
    });

    it('R8 R6 as two turns of a session, and as two sessions: those calls twice', async () => {
      const b = [...r6.b, ...r6.b];
      models.plan({ ...r6, b });
      const session = await agent('a', 'b');
      await session.prompt('go');
      await session.prompt('again');
      expect(models.calls).toEqual(['a', 'b', 'b', 'a', 'b', 'b']);
      models.plan({ ...r6, b });
      for (const one of [await agent('a', 'b'), await agent('a', 'b')]) await one.prompt('go');
      expect(models.calls).toEqual(['a', 'b', 'b', 'a', 'b', 'b']);
    });

    it.each([
      ['R6', r6, ['a', 'b'], ['a', 'b', 'b']],
      ['R7', r7, ['a', 'b', 'c'], ['a', 'b', 'b', 'c', 'a']],
    ])('R9 %s with another replica each step', async (_name, plan, chain, calls) => {
      // Which router gets a command is the server's choice: asked again until the second step was the other one's.
      for (let tries = 1, alternated = false; !alternated; tries++) {
        models.plan(plan);
        const session = await agent(...chain);
        expect(await session.prompt('go')).toEqual({ kind: 'completed' });
        expect(models.calls).toEqual(calls);
        const answers = await session.data('assistant.message');
        const [first, second] = answers.map(({ attempts }) => replica.made.has(attempts[0]?.attemptId ?? ''));
        alternated = first !== second;
        expect(tries).toBeLessThan(20);
      }
    });

    it('R10 an image by URL: what cannot see is never called; where nothing can, that is the error', async () => {
      models.plan({ a: [{ text: 'no' }], sees: [{ text: 'a cat' }] });
      const session = await agent('a', 'sees');
      expect(await session.prompt([look, imageUrl])).toEqual({ kind: 'completed' });
      expect(models.calls).toEqual(['sees']);
      expect((await session.data('assistant.message'))[0]?.attempts).toMatchObject([
        { target: named('a'), outcome: 'skipped', error: { code: 'unsupported_capability' } },
        { target: named('sees'), outcome: 'ok' },
      ]);
      models.plan({});
      const blind = await agent('a', 'b');
      expect(await blind.prompt([look, imageUrl])).toMatchObject({ kind: 'error', code: 'unsupported_capability' });
      expect(models.calls).toEqual([]);
    });

    it('R11 heic is taken by `supported` alone, in both steps; where none takes it, that is the error', async () => {
      models.plan({ sees: [{ text: 'no' }], heic: [toolCall, { text: 'a cat' }] });
      const session = await agent('sees', 'heic');
      expect(await session.prompt([look, heic])).toEqual({ kind: 'completed' });
      expect(models.calls).toEqual(['heic', 'heic']);
      models.plan({});
      const none = await agent('sees', 'a');
      expect(await none.prompt([look, heic])).toMatchObject({ kind: 'error', code: 'unsupported_capability' });
      expect(models.calls).toEqual([]);
    });

    it('a base64 image runs on a target that takes no URLs', async () => {
      models.plan({ heic: [{ text: 'a dot' }] });
      const session = await agent('heic');
      await session.prompt([look, { type: 'image', mediaType: 'image/png', base64: PNG }]);
      expect(JSON.stringify(models.requests[0]?.body)).toContain(PNG);
    });

    it('R14 a call of a tool that the agent lacks: an error result, then request 2', async () => {
      models.plan({ a: [{ calls: [{ name: 'launch_rocket' }] }, { text: 'I see.' }] });
      const session = await agent('a');
      expect(await session.prompt('go')).toEqual({ kind: 'completed' });
      expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'unknown_tool' } }]);
      expect(models.requests[1]?.body).toMatchObject(ROUND[dialect]('launch_rocket', 'launch_rocket'));
    });
  });
});

/** Whatever the shape, the text of it holds this. */
function holding(text: string): unknown {
  return { asymmetricMatch: (value: unknown) => JSON.stringify(value).includes(text) };
}
