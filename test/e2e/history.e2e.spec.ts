import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { wireAnswer, wireOf, type PlannedResponse, type ReplayDialect, type WireAnswer } from '@jetloop/testing';
import { z } from 'zod';
import { DIALECTS, ProviderSystem } from './support/provider-system.js';
import { answerTool, slowCall } from './support/tool-stand-in.js';
import type { TestSession } from './support/test-session.js';

const usage = { input: 10, output: 5 };
const COMPLETED = { kind: 'completed' };
const read = (id: string, path: string) => ({ id, name: 'read_file', arguments: JSON.stringify({ path }) });
const image = (bytes: string, mediaType: string) => ({
  type: 'image' as const,
  mediaType,
  base64: Buffer.from(bytes, 'latin1').toString('base64'),
});
const PNG = '\x89PNG\r\n\x1a\n0000';
const JPEG = '\xff\xd8\xff\xe0 000';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';

describe('histories that strict providers take', () => {
  let world: ProviderSystem;
  beforeAll(async () => {
    world = await ProviderSystem.start();
    await writeFile(join(world.system.workspace, 'empty.txt'), '');
  });
  afterAll(() => world.stop());

  const says = (dialect: ReplayDialect, answer: Partial<WireAnswer>) =>
    wireAnswer(dialect, { finish: answer.calls ? 'tool-calls' : 'stop', usage, ...answer });
  const done = (dialect: ReplayDialect) => says(dialect, { text: 'Done.' });
  const goesOn = async (dialect: ReplayDialect, session: TestSession) => {
    expect((await world.turn(session, [done(dialect)])).end).toEqual(COMPLETED);
  };
  /** A turn in which somebody else answers the tool. */
  const withResult = async (
    session: TestSession,
    content: Parameters<typeof answerTool>[3],
    ...answers: PlannedResponse[]
  ) => {
    const turn = (await session.types()).filter((type) => type === 'turn.start').length + 1;
    const running = world.turn(session, answers);
    await answerTool(world.system, session, { turn, step: 1 }, content);
    return running;
  };

  it.each(DIALECTS)('R37 blank blocks, answers of calls alone, empty results, also resumed: %s', async (dialect) => {
    const session = await world.create([dialect], { tools: ['read_file', 'bash'] });
    const blank = [
      { type: 'text', text: 'Hi' },
      { type: 'text', text: ' \n' },
    ] as const;
    const first = await world.turn(
      session,
      [says(dialect, { text: ' ', calls: [read('a', 'empty.txt')] }), says(dialect, { text: '\n' })],
      blank,
    );
    expect(first.end).toEqual(COMPLETED);
    const empty = await withResult(session, [], says(dialect, { calls: [slowCall('b')] }), done(dialect));
    expect(empty.end).toEqual(COMPLETED);
    expect(JSON.stringify(empty.requests[1])).toContain('(no output)');
    await world.system.client.resume(session.id);
    await goesOn(dialect, session);
  });

  it.each(DIALECTS)('R38 an aborted call, neighbours of one role: %s', async (dialect) => {
    const session = await world.create([dialect], { tools: ['bash'] });
    world.provider.respond(says(dialect, { text: 'I wait.', calls: [slowCall('a'), slowCall('b')] }));
    const { messageId } = await world.system.client.prompt(session.id, 'Wait');
    await session.until('tool.call');
    await world.system.client.cancel(session.id);
    expect(await session.endOf(messageId)).toMatchObject({ kind: 'aborted' });
    await world.system.client.inject(session.id, 'It rains.');
    const { requests, end } = await world.turn(session, [done(dialect)], 'And now?');
    expect(end).toEqual(COMPLETED);
    const sent = JSON.stringify(requests[0]);
    expect(sent).toContain('It rains.');
    expect(sent).toContain('And now?');
    // An answer that was cut before its first word leaves two prompts behind each other.
    const before = world.provider.requests.length;
    world.provider.respond({ chunks: [wireOf(dialect).begin(), 'hang'] });
    const cut = await world.system.client.prompt(session.id, 'Say something');
    // Cancelled earlier, it would never be asked, and the next turn would get this answer.
    while (world.provider.requests.length === before) await sleep(5);
    await world.system.client.cancel(session.id);
    await session.endOf(cut.messageId);
    await goesOn(dialect, session);
  });

  it.each(DIALECTS)('R38 a compaction keeps a pair whole or leaves it out whole: %s', async (dialect) => {
    const texts = { old: 'text of old', kept: 'text of kept', cut: `text of cut ${'word '.repeat(4_000)}` };
    for (const [name, text] of Object.entries(texts))
      await writeFile(join(world.system.workspace, `${name}.txt`), text);
    const session = await world.create([dialect], { tools: ['read_file'] });
    const asks = (name: string) =>
      says(dialect, { calls: [read(name, `${name}.txt`), read(`${name}-2`, 'empty.txt')] });
    const overflow = wireOf(dialect).refusal(400, 'prompt is too long: 213462 tokens > 200000 maximum');
    const summed = [overflow, says(dialect, { text: 'Summary.' }), done(dialect)];
    const story = says(dialect, { text: 'A long story. '.repeat(400) });
    expect((await world.turn(session, [asks('old'), story])).end).toEqual(COMPLETED);
    // What was before the turn makes room, and in the next one that turn's own first step does.
    const kept = await world.turn(session, [asks('kept'), ...summed]);
    const cut = await world.turn(session, [asks('cut'), ...summed]);
    for (const [{ end, requests }, pairs] of [
      [kept, { old: 'left out', kept: 'whole', cut: 'left out' }],
      [cut, { old: 'left out', kept: 'left out', cut: 'left out' }],
    ] as const) {
      expect(end).toEqual(COMPLETED);
      const sent = JSON.stringify(requests[3]);
      expect(sent).toContain('Summary.');
      const found = Object.keys(texts).map((name) => {
        const parts = [sent.includes(`${name}.txt`), sent.includes(`text of ${name}`)];
        return [name, parts.every(Boolean) ? 'whole' : parts.some(Boolean) ? 'cut' : 'left out'];
      });
      expect(Object.fromEntries(found)).toEqual(pairs);
    }
    await goesOn(dialect, session);
  });

  it.each(DIALECTS)(
    'R39 dotted, long and colliding names are plain on the wire and themselves in the log: %s',
    async (dialect) => {
      const names = ['files.read', 'files_read', 'files read', 'x'.repeat(90), `${'x'.repeat(90)}y`];
      const session = await world.create([dialect], { tools: [] });
      const calls = names.map((name, n) => ({ id: `call_${n}`, name, arguments: '{}' }));
      const first = await world.turn(session, [says(dialect, { calls }), done(dialect)]);
      expect(first.end).toEqual(COMPLETED);
      const wire = [...new Set(JSON.stringify(first.requests[1]).match(/files_read_[0-9a-f]{12}|x{51}_[0-9a-f]{12}/g))];
      expect(wire).toHaveLength(4);
      // The model calls them by the names that it was told.
      const again = wire.map((name, n) => ({ id: `again_${n}`, name, arguments: '{}' }));
      expect((await world.turn(session, [says(dialect, { calls: again }), done(dialect)])).end).toEqual(COMPLETED);
      const called = (await session.data('tool.call')).map(({ name }) => name);
      expect(called).toEqual([...names, ...names.filter((name) => name !== 'files_read')]);
    },
  );

  it.each(DIALECTS)('R40 a JPEG and an SVG as .png, a BMP from a tool: the next turn works: %s', async (dialect) => {
    const session = await world.create([dialect], { tools: ['bash'] });
    const shown = [
      { type: 'text' as const, text: 'Look' },
      image(PNG, 'image/png'),
      image(JPEG, 'image/png'),
      image(SVG, 'image/png'),
    ];
    const { requests, end } = await world.turn(session, [done(dialect)], shown);
    expect(end).toEqual(COMPLETED);
    expect(JSON.stringify(requests[0])).toContain('image/jpeg');
    expect(JSON.stringify(requests[0])).toContain('[an image (image/svg+xml) that this model cannot see]');
    const bmp = await withResult(
      session,
      [image('BM0000', 'image/png')],
      says(dialect, { calls: [slowCall('a')] }),
      done(dialect),
    );
    expect(bmp.end).toEqual(COMPLETED);
    expect(JSON.stringify(bmp.requests[1])).toContain('[an image (image/bmp) that this model cannot see]');
    await goesOn(dialect, session);
  });

  describe('R41 reasoning state', () => {
    const long = Buffer.alloc(15_000, 'signature').toString('base64');
    const thought = [{ text: 'I look.', signature: long }];
    const call = { ...read('a', 'empty.txt'), signature: long };
    const start = (chain: string[]) =>
      world.create(chain, { tools: ['read_file', 'bash'], model: { chain, thinking: true, temperature: 0.5 } });

    it('anthropic: signatures and redacted blocks go back byte by byte, 20 kB too', async () => {
      const session = await start(['anthropic']);
      const reasoning = [
        ...thought,
        { text: '', redacted: `${long}==` },
        { text: 'And again.', signature: 'c2lnLTI=' },
      ];
      const asked = await world.turn(session, [
        says('anthropic', { reasoning, text: 'See:', calls: [call] }),
        done('anthropic'),
      ]);
      expect(asked.end).toEqual(COMPLETED);
      expect(long.length).toBe(20_000);
      const { requests: later } = await world.turn(session, [done('anthropic')]);
      for (const request of [asked.requests[1], later[0]]) {
        expect(assistantOf(request)).toEqual([
          { type: 'thinking', thinking: 'I look.', signature: long },
          { type: 'redacted_thinking', data: `${long}==` },
          { type: 'thinking', thinking: 'And again.', signature: 'c2lnLTI=' },
          { type: 'text', text: 'See:' },
          { type: 'tool_use', id: 'a', name: 'read_file', input: { path: 'empty.txt' } },
        ]);
        expect(request).not.toHaveProperty('temperature');
        expect(request).toHaveProperty('thinking');
      }
    });

    it('google: thought signatures go back on the parts that they came with', async () => {
      const session = await start(['google']);
      const last = {
        candidates: [{ content: { parts: [{ text: '', thoughtSignature: 'dGV4dA==' }] }, finishReason: 'STOP' }],
      };
      const signed = [wireOf('google').text('Done.'), `data: ${JSON.stringify(last)}\n\n`];
      const asked = await world.turn(session, [
        says('google', { reasoning: [{ text: 'I look.' }], calls: [call] }),
        { chunks: signed },
      ]);
      expect(asked.end).toEqual(COMPLETED);
      const { requests } = await world.turn(session, [done('google')]);
      const sent = JSON.stringify(requests[0]);
      expect(sent).toContain(`"thoughtSignature":"${long}"`);
      expect(requests[0]).toMatchObject({
        contents: [
          {},
          { parts: [{ functionCall: { name: 'read_file' }, thoughtSignature: long }] },
          { parts: [{ functionResponse: { name: 'read_file' } }] },
          { parts: [{ text: 'Done.' }, { text: '', thoughtSignature: 'dGV4dA==' }] },
          {},
        ],
      });
    });

    it.each(['anthropic', 'google'] as const)(
      'is not sent to another target, nor after an abort: %s',
      async (dialect) => {
        const session = await start([dialect, `${dialect}-b`]);
        const other = await world.turn(session, [
          says(dialect, { reasoning: thought, calls: [call] }),
          wireOf(dialect).refusal(500, 'oops'),
          done(dialect),
        ]);
        expect(other.end).toEqual(COMPLETED);
        expect(JSON.stringify(other.requests[1])).toContain(long);
        expect(JSON.stringify(other.requests[2])).not.toContain(long);
        const wire = wireOf(dialect);
        const cut = await start([dialect]);
        const deltas = world.watch(cut);
        world.provider.respond({ chunks: [wire.begin(), wire.reasoning(thought[0]!), wire.text('Half'), 'hang'] });
        const { messageId } = await world.system.client.prompt(cut.id, 'Think');
        while (!deltas.some(({ text }) => text === 'Half')) await new Promise((resolve) => setTimeout(resolve, 5));
        await world.system.client.cancel(cut.id);
        expect(await cut.endOf(messageId)).toMatchObject({ kind: 'aborted' });
        const next = await world.turn(cut, [done(dialect)]);
        expect(JSON.stringify(next.requests[0])).toContain('Half');
        expect(JSON.stringify(next.requests[0])).not.toContain(long);
      },
    );

    it.each(DIALECTS)('a thought that was cut is not sent, and the next turn works: %s', async (dialect) => {
      const wire = wireOf(dialect);
      const begun = wire.reasoning({ text: 'Half a thou' });
      // anthropic: cut behind the words, before the signature.
      const words = dialect === 'anthropic' ? begun.slice(0, begun.indexOf('event:', begun.indexOf('Half'))) : begun;
      const cut = await start([dialect]);
      const deltas = world.watch(cut);
      world.provider.respond({ chunks: [wire.begin(), words, 'hang'] });
      const { messageId } = await world.system.client.prompt(cut.id, 'Think');
      while (!deltas.some(({ text }) => text === 'Half a thou')) await sleep(5);
      await world.system.client.cancel(cut.id);
      expect(await cut.endOf(messageId)).toMatchObject({ kind: 'aborted' });
      const [message] = await cut.data('assistant.message');
      expect(message?.content).toEqual([{ type: 'reasoning', text: 'Half a thou' }]);
      const next = await world.turn(cut, [done(dialect)]);
      expect(next.end).toEqual(COMPLETED);
      expect(JSON.stringify(next.requests[0])).not.toContain('Half a thou');
    });

    it.each([
      ['anthropic', 'messages.1.content.0: Invalid `signature` in `thinking` block'],
      ['google', 'Thought signature is not valid.'],
    ] as const)('a 400 about it is repaired once: %s', async (dialect, message) => {
      const session = await start([dialect]);
      const repaired = await world.turn(session, [
        says(dialect, { reasoning: thought, calls: [call] }),
        wireOf(dialect).refusal(400, message),
        done(dialect),
      ]);
      expect(repaired.end).toEqual(COMPLETED);
      expect(JSON.stringify(repaired.requests[1])).toContain(long);
      expect(JSON.stringify(repaired.requests[2])).not.toContain(long);
      expect((await session.data('assistant.message'))[1]?.attempts).toMatchObject(
        [
          { why: 'primary', outcome: 'error', error: { code: 'bad_request' } },
          { why: 'repair', outcome: 'ok' },
        ].map((each, n) => (n === 0 ? { ...each, why: expect.stringMatching(/primary|sticky/) } : each)),
      );
      const refused = wireOf(dialect).refusal(400, message);
      const twice = await world.turn(session, [refused, refused]);
      expect(twice.end).toMatchObject({ kind: 'error', code: 'bad_request' });
    });
  });
});

const conversation = z.looseObject({ messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })) });

/** The content of the first answer in a request to anthropic. */
function assistantOf(request: unknown): unknown {
  return conversation.parse(request).messages.find(({ role }) => role === 'assistant')?.content;
}
