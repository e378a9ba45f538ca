import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { wireAnswer, wireOf, type PlannedResponse, type WireCall } from '@jetloop/testing';
import { DIALECTS, ProviderSystem, type Asked } from './support/provider-system.js';

const usage = { input: 10, output: 5 };
const list = (id: string, path = '.'): WireCall => ({ id, name: 'list_dir', arguments: JSON.stringify({ path }) });
const agent = { tools: ['list_dir'] };
const ended = { finish: 'tool-calls', usage } as const;
const BROKEN = { isError: true, error: { code: 'invalid_arguments' } };

describe('calls and ends of answers', () => {
  let world: ProviderSystem;
  beforeAll(async () => {
    world = await ProviderSystem.start();
  });
  afterAll(() => world.stop());

  const done = (dialect: (typeof DIALECTS)[number], stream = true) =>
    wireAnswer(dialect, { text: 'Done.', finish: 'stop', usage }, stream);
  const called = async ({ session }: Asked) =>
    (await session.data('tool.call')).map(({ name, arguments: raw }) => [name, raw]);

  it('R31 fragments interleaved, at one index, without index, as object, blank: never lost, never mixed', async () => {
    const fragment = (...calls: object[]) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: calls } }] })}\n\n`;
    const piece = (index: number | undefined, id: string | undefined, text?: unknown) => ({
      ...(index === undefined ? {} : { index }),
      ...(id === undefined ? {} : { id }),
      function: {
        ...(id === undefined ? {} : { name: 'list_dir' }),
        ...(text === undefined ? {} : { arguments: text }),
      },
    });
    const cases: [string, string[], string[]][] = [
      [
        'interleaved',
        [
          fragment(piece(0, 'a', '{"pa'), piece(1, 'b', '{"pat')),
          fragment(piece(1, undefined, 'h":"b"}')),
          fragment(piece(0, undefined, 'th":"a"}')),
        ],
        ['{"path":"a"}', '{"path":"b"}'],
      ],
      [
        'one index for both',
        [
          fragment(piece(0, 'a', '{"path":"a"}')),
          fragment(piece(0, 'b', '{"pa')),
          fragment(piece(0, undefined, 'th":"b"}')),
        ],
        ['{"path":"a"}', '{"path":"b"}'],
      ],
      [
        'without index',
        [
          fragment(piece(undefined, 'a', '{"path"')),
          fragment(piece(undefined, undefined, ':"a"}')),
          fragment(piece(undefined, 'b', '{"path":"b"}')),
        ],
        ['{"path":"a"}', '{"path":"b"}'],
      ],
      ['an object', [fragment(piece(0, 'a', { path: 'a' }))], ['{"path":"a"}']],
      [
        'blank',
        [fragment(piece(0, 'a', '')), fragment(piece(1, 'b')), fragment(piece(1, undefined, ' '))],
        ['{}', '{}'],
      ],
    ];
    for (const [name, fragments, expected] of cases) {
      const end = wireOf('chat').end('tool-calls', usage);
      const asked = await world.turn(await world.create(['chat'], agent), [
        { chunks: [...fragments, end] },
        done('chat'),
      ]);
      expect([name, await called(asked)]).toEqual([name, expected.map((raw) => ['list_dir', raw])]);
    }
    const doubled = [fragment(piece(0, 'a', '{}')), fragment(piece(0, undefined, '{"path":"x"}'))];
    const { session, end } = await world.turn(await world.create(['chat'], agent), [
      { chunks: [...doubled, wireOf('chat').end('tool-calls', usage)] },
    ]);
    expect(end).toMatchObject({ kind: 'error', code: 'tool_call_assembly' });
    expect(await session.data('tool.call')).toEqual([]);
  });

  it('R31 anthropic: interleaved blocks, one index for both, input in the start, one id twice', async () => {
    const event = (payload: { type: string; [field: string]: unknown }) =>
      `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`;
    const start = (index: number, id: string, input: object = {}) =>
      event({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: 'list_dir', input } });
    const delta = (index: number, text: string) =>
      event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: text } });
    const stop = (index: number) => event({ type: 'content_block_stop', index });
    const two = ['{"path":"a"}', '{"path":"b"}'];
    const cases: [string, string[], string[]][] = [
      [
        'interleaved',
        [start(0, 'a'), start(1, 'b'), delta(1, '{"pa'), delta(0, two[0]!), delta(1, 'th":"b"}'), stop(0), stop(1)],
        two,
      ],
      ['one index', [start(0, 'a'), delta(0, two[0]!), start(0, 'b'), delta(0, two[1]!), stop(0)], two],
      ['in the start', [start(0, 'a', { path: 'a' }), stop(0)], [two[0]!]],
      ['blank', [start(0, 'a'), delta(0, ''), stop(0)], ['{}']],
    ];
    for (const [name, events, expected] of cases) {
      const wire = wireOf('anthropic');
      const answer = { chunks: [wire.begin(usage), ...events, wire.end('tool-calls', usage)] };
      const asked = await world.turn(await world.create(['anthropic'], agent), [answer, done('anthropic')]);
      expect([name, await called(asked)]).toEqual([name, expected.map((raw) => ['list_dir', raw])]);
    }
    const twice = [start(0, 'a'), delta(0, '{}'), stop(0), start(1, 'a'), delta(1, '{}'), stop(1)];
    const { end } = await world.turn(await world.create(['anthropic'], agent), [
      { chunks: [wireOf('anthropic').begin(), ...twice, wireOf('anthropic').end('tool-calls', usage)] },
    ]);
    expect(end).toMatchObject({ kind: 'error', code: 'tool_call_assembly' });
  });

  it('R31 google: apart, in one part each, without id, without arguments, as text', async () => {
    const frame = (...calls: object[]) => {
      const parts = calls.map((functionCall) => ({ functionCall }));
      return `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts } }] })}\n\n`;
    };
    const to = (path: string, id?: string) => ({
      name: 'list_dir',
      args: { path },
      ...(id === undefined ? {} : { id }),
    });
    const two = ['{"path":"a"}', '{"path":"b"}'];
    const cases: [string, string[], string[]][] = [
      ['in one frame', [frame(to('a', 'x'), to('b', 'y'))], two],
      ['in two frames', [frame(to('a', 'x')), frame(to('b', 'y'))], two],
      ['without id', [frame(to('a'), to('b'))], two],
      ['an empty id', [frame(to('a', '')), frame(to('b', ''))], two],
      ['without arguments', [frame({ name: 'list_dir' }), frame({ name: 'list_dir', args: {} })], ['{}', '{}']],
      ['as text', [frame({ name: 'list_dir', args: two[0] })], [two[0]!]],
    ];
    for (const [name, frames, expected] of cases) {
      const answer = { chunks: [...frames, wireOf('google').end('tool-calls', usage)] };
      const asked = await world.turn(await world.create(['google'], agent), [answer, done('google')]);
      expect([name, await called(asked)]).toEqual([name, expected.map((raw) => ['list_dir', raw])]);
      const ids = (await asked.session.data('tool.call')).map(({ callId }) => callId);
      expect([name, new Set(ids).size, ids.includes('')]).toEqual([name, expected.length, false]);
    }
    const { end } = await world.turn(await world.create(['google'], agent), [
      { chunks: [frame(to('a', 'x'), to('b', 'x')), wireOf('google').end('tool-calls', usage)] },
    ]);
    expect(end).toMatchObject({ kind: 'error', code: 'tool_call_assembly' });
  });

  it.each(DIALECTS)('R31 two calls of one answer run apart, in order, streamed and whole: %s', async (dialect) => {
    for (const stream of [true, false]) {
      const target = stream ? dialect : `${dialect}-whole`;
      const both = wireAnswer(
        dialect,
        { calls: [list('a', 'x'), list('b', 'y')], finish: 'tool-calls', usage },
        stream,
      );
      const asked = await world.turn(await world.create([target], agent), [both, done(dialect, stream)]);
      expect(await called(asked)).toEqual([
        ['list_dir', '{"path":"x"}'],
        ['list_dir', '{"path":"y"}'],
      ]);
    }
  });

  it.each(DIALECTS)(
    'R32 an answer that was cut by its length does not run its call, however well formed: %s',
    async (dialect) => {
      for (const stream of [true, false]) {
        const target = stream ? dialect : `${dialect}-whole`;
        const cut = wireAnswer(dialect, { calls: [list('a')], finish: 'max-tokens', usage }, stream);
        const { session, end } = await world.turn(await world.create([target], agent), [cut]);
        expect(end).toEqual({ kind: 'max-tokens' });
        expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'not_run' } }]);
        // The next turn is taken by a strict provider.
        const next = await world.turn(session, [done(dialect, stream)]);
        expect(next.end).toEqual({ kind: 'completed' });
      }
    },
  );

  it.each(['chat', 'anthropic'] as const)(
    'R33 broken arguments do not run, and later requests are valid: %s',
    async (dialect) => {
      for (const broken of ['{"path": ".', '[1]', '"x"', '{"path":".","path":".."}']) {
        const wire = wireOf(dialect);
        const chunks = [wire.begin(), wire.call({ ...list('a'), arguments: broken }), wire.end('tool-calls', usage)];
        const { session, requests } = await world.turn(await world.create([dialect], agent), [
          { chunks },
          done(dialect),
        ]);
        expect(await session.data('tool.result')).toMatchObject([BROKEN]);
        expect(await called({ session, end: { kind: 'completed' }, requests })).toEqual([['list_dir', broken]]);
        expect((await world.turn(session, [done(dialect)])).end).toEqual({ kind: 'completed' });
      }
    },
  );

  it('R33 broken arguments of google, and in whole bodies, do not run either', async () => {
    const frame = (args: unknown) => ({
      candidates: [
        { content: { role: 'model', parts: [{ functionCall: { name: 'list_dir', args } }] }, finishReason: 'STOP' },
      ],
    });
    const chat = (text: string) => wireAnswer('chat', { calls: [{ ...list('a'), arguments: text }], ...ended }, false);
    const anthropic = (input: unknown) => ({
      body: JSON.stringify({
        type: 'message',
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'list_dir', input }],
        stop_reason: 'tool_use',
        usage: { input_tokens: 10, output_tokens: 5 },
      }),
    });
    const parsed = {
      choices: [{ delta: { tool_calls: [{ id: 'a', function: { name: 'list_dir', arguments: [1] } }] } }],
    };
    const cases: [string, PlannedResponse, string][] = [
      ['google', { chunks: [`data: ${JSON.stringify(frame('{"path": .'))}\n\n`] }, '{"path": .'],
      ['google', { chunks: [`data: ${JSON.stringify(frame([1]))}\n\n`] }, '[1]'],
      ['google-whole', { body: JSON.stringify(frame('{"path": .')) }, '{"path": .'],
      ['google-whole', { body: JSON.stringify(frame([1])) }, '[1]'],
      ['chat-whole', chat('{"path": .'), '{"path": .'],
      ['chat-whole', chat('[1]'), '[1]'],
      // From a server that parses what the model wrote.
      ['chat', { chunks: [`data: ${JSON.stringify(parsed)}\n\n`, wireOf('chat').end('tool-calls', usage)] }, '[1]'],
      ['anthropic-whole', anthropic('{"path": .'), '{"path": .'],
      ['anthropic-whole', anthropic([1]), '[1]'],
    ];
    for (const [target, answer, broken] of cases) {
      const dialect = DIALECTS.find((each) => target.startsWith(each))!;
      const next = done(dialect, !target.endsWith('-whole'));
      const asked = await world.turn(await world.create([target], agent), [answer, next]);
      expect([target, asked.end]).toEqual([target, { kind: 'completed' }]);
      expect([target, await called(asked)]).toEqual([target, [['list_dir', broken]]]);
      expect(await asked.session.data('tool.result')).toMatchObject([BROKEN]);
      expect((await world.turn(asked.session, [next])).end).toEqual({ kind: 'completed' });
    }
  });

  it.each(['chat', 'anthropic'] as const)(
    'R34 an end that tells of calls without one is tool_call_assembly: %s',
    async (dialect) => {
      for (const stream of [true, false]) {
        for (const said of [{}, { text: 'I call' }]) {
          const answer = wireAnswer(dialect, { ...said, finish: 'tool-calls', usage }, stream);
          const session = await world.create([stream ? dialect : `${dialect}-whole`], agent);
          const { end } = await world.turn(session, [answer]);
          expect(end).toMatchObject({ kind: 'error', code: 'tool_call_assembly' });
          expect(await session.data('assistant.message')).toEqual([]);
        }
      }
    },
  );

  it('R34 google: a call that the provider itself calls malformed', async () => {
    const body = { candidates: [{ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }] };
    const text = JSON.stringify(body);
    for (const [target, answer] of [
      ['google', { chunks: [`data: ${text}\n\n`] }],
      ['google-whole', { body: text }],
    ] as const) {
      const { end } = await world.turn(await world.create([target], agent), [answer]);
      expect(end).toMatchObject({ kind: 'error', code: 'tool_call_assembly' });
    }
  });

  it.each(DIALECTS)(
    'an unknown finish is decided by content, and stands in the log as it came: %s',
    async (dialect) => {
      const reason = /"(finish_reason|stop_reason|finishReason)":"\w+"/;
      const unheard = (text: string) => text.replace(reason, '"$1":"BRAND_new"');
      for (const stream of [true, false]) {
        const session = await world.create([stream ? dialect : `${dialect}-whole`], agent);
        const answers = [{ calls: [list('a')] }, { text: 'Done.' }].map((said): PlannedResponse => {
          const { chunks, body } = wireAnswer(dialect, { ...said, finish: 'stop', usage }, stream);
          if (body !== undefined) return { body: unheard(body) };
          return { chunks: (chunks ?? []).map((chunk) => (typeof chunk === 'string' ? unheard(chunk) : chunk)) };
        });
        expect((await world.turn(session, answers)).end).toEqual({ kind: 'completed' });
        expect(await session.data('assistant.message')).toMatchObject([
          { finishReason: 'tool-calls', rawFinishReason: 'BRAND_new' },
          { finishReason: 'stop', rawFinishReason: 'BRAND_new' },
        ]);
      }
    },
  );

  it.each(DIALECTS)(
    'R35 a filter or refusal, behind reasoning alone too: one call, usage booked: %s',
    async (dialect) => {
      const reasoning = [{ text: 'Hm.', signature: 'c2ln' }];
      for (const stream of [true, false]) {
        for (const said of [{}, { reasoning }, { text: 'I can' }]) {
          const answer = wireAnswer(
            dialect,
            { ...said, finish: 'content-filter', usage: { input: 21, output: 9 } },
            stream,
          );
          const session = await world.create([stream ? `${dialect}-again` : `${dialect}-whole`, `${dialect}-b`]);
          expect((await world.turn(session, [answer])).end).toEqual({ kind: 'refused' });
          expect(await session.data('assistant.message')).toMatchObject([
            { finishReason: 'content-filter', usage: { input: 21, output: 9 }, attempts: [{ outcome: 'ok' }] },
          ]);
          expect(
            (await world.turn(session, [wireAnswer(dialect, { text: 'Hi', finish: 'stop', usage }, stream)])).end,
          ).toEqual({
            kind: 'completed',
          });
        }
      }
    },
  );

  it('R35 refusal deltas of chat, and a prompt that Google blocks', async () => {
    const refusal = { choices: [{ index: 0, delta: { refusal: 'I cannot.' }, finish_reason: 'stop' }] };
    const chat = await world.turn(await world.create(['chat', 'chat-b']), [
      { chunks: [`data: ${JSON.stringify(refusal)}\n\n`, 'data: [DONE]\n\n'] },
    ]);
    expect(chat.end).toEqual({ kind: 'refused' });
    const blocked = {
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 12, totalTokenCount: 12 },
    };
    for (const target of ['google', 'google-whole']) {
      const text = JSON.stringify(blocked);
      const answer = target === 'google' ? { chunks: [`data: ${text}\n\n`] } : { body: text };
      const { session, end } = await world.turn(await world.create([target, 'google-b']), [answer]);
      expect(end).toEqual({ kind: 'refused' });
      expect(await session.data('assistant.message')).toMatchObject([{ usage: { input: 12, output: 0 } }]);
    }
  });

  it.each(DIALECTS)('R36 empty behind a tool round ends the turn, empty at first falls back: %s', async (dialect) => {
    for (const stream of [true, false]) {
      const chain = [stream ? dialect : `${dialect}-whole`, `${dialect}-b`];
      const empty = wireAnswer(dialect, { finish: 'stop', usage }, stream);
      const after = await world.turn(await world.create(chain, agent), [
        wireAnswer(dialect, { calls: [list('a')], ...ended }, stream),
        empty,
      ]);
      expect(after.end).toEqual({ kind: 'completed' });
      // The round of an earlier turn is none of this one: the first target's silence is no end.
      for (const session of [after.session, await world.create(chain, agent)]) {
        const first = await world.turn(session, [empty, done(dialect)]);
        expect(first.end).toEqual({ kind: 'completed' });
        expect((await session.data('assistant.message')).at(-1)?.attempts).toMatchObject([
          { outcome: 'error', error: { code: 'empty_response' } },
          { outcome: 'ok', why: 'fallback' },
        ]);
      }
    }
  });
});
