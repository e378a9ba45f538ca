import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { wireAnswer, wireOf, type PlannedResponse } from '@jetloop/testing';
import { DIALECTS, ProviderSystem } from './support/provider-system.js';

describe('usage and cost', () => {
  let world: ProviderSystem;
  beforeAll(async () => {
    world = await ProviderSystem.start({
      writes: { dialect: 'anthropic', prices: { input: 3, cacheWrite: 3.75, output: 15 } },
      reads: { dialect: 'chat', prices: { input: 0.5, cacheRead: 0.05, output: 3 } },
      unpriced: { dialect: 'chat', prices: undefined },
      thinks: { dialect: 'chat', prices: { input: 0.3, cacheRead: 0.075, output: 0.5 } },
    });
  });
  afterAll(() => world.stop());

  const counted = async (target: string, answer: PlannedResponse) => {
    const { session } = await world.turn(await world.create([target]), [answer]);
    const [message] = await session.data('assistant.message');
    return message!;
  };

  it.each(DIALECTS)('R43 25/1, then 15, is 25/15; on every chunk, the last; none: estimated: %s', async (dialect) => {
    const wire = wireOf(dialect);
    const rising = [1, 7, 15].flatMap((output) => [wire.usage({ input: 25, output }), wire.text('piece ')]);
    const chunks = [wire.begin({ input: 25, output: 1 }), ...rising, wire.end('stop', { input: 25, output: 15 })];
    expect((await counted(dialect, { chunks })).usage).toEqual({ input: 25, cacheRead: 0, cacheWrite: 0, output: 15 });
    for (const [target, stream] of [
      [dialect, true],
      [`${dialect}-whole`, false],
    ] as const) {
      const { text, end } = { text: 'A word or two.', end: { finish: 'stop' } as const };
      const streamed = { chunks: [wireOf(dialect).text(text), wireOf(dialect).end('stop')] };
      const { usage } = await counted(target, stream ? streamed : wireAnswer(dialect, { text, ...end }, false));
      if (target === 'chat')
        expect(world.provider.requests.at(-1)?.body).toMatchObject({ stream_options: { include_usage: true } });
      expect(usage).toMatchObject({ estimated: 'missing', output: 4 });
      expect(usage?.input).toBeGreaterThan(0);
    }
  });

  it.each(DIALECTS)('R43 what is no count is estimated, and so is what a count lacks: %s', async (dialect) => {
    const text = 'A word or two.';
    for (const noCount of [1.5, -3, 1e300]) {
      const half = { input: 25, output: noCount };
      for (const [target, stream] of [
        [dialect, true],
        [`${dialect}-whole`, false],
      ] as const) {
        const { usage, cost } = await counted(
          target,
          wireAnswer(dialect, { text, finish: 'stop', usage: half }, stream),
        );
        expect(usage).toEqual({ input: 25, cacheRead: 0, cacheWrite: 0, output: 4, estimated: 'missing' });
        expect(cost).toBeCloseTo((25 + 2 * 4) / 1e6, 12);
      }
    }
  });

  it('R43 anthropic: the later frame leaves the input out', async () => {
    const wire = wireOf('anthropic');
    const last = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 15 } };
    const end = `event: message_delta\ndata: ${JSON.stringify(last)}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n`;
    const message = await counted('anthropic', {
      chunks: [wire.begin({ input: 25, output: 1 }), wire.text('Hi'), end],
    });
    expect(message.usage).toEqual({ input: 25, cacheRead: 0, cacheWrite: 0, output: 15 });
  });

  it('R44 a price that nobody knows is null in the log and in SQL, never 0', async () => {
    const { session } = await world.turn(await world.create(['unpriced']), [
      wireAnswer('chat', { text: 'Hi', finish: 'stop', usage: { input: 10, output: 5 } }),
    ]);
    const [message] = await session.data('assistant.message');
    expect(message).toMatchObject({ usage: { input: 10, output: 5 }, cost: null, attempts: [{ cost: null }] });
    const attempts = `select cost, output_tokens from model_attempts where session_id = '${session.id}'`;
    expect(await world.system.sql(attempts)).toEqual([[null, 5]]);
    const sums = `select cost, cost_complete from turns where session_id = '${session.id}'`;
    // A sum is its known part, and says that it is not all.
    expect(await world.system.sql(sums)).toEqual([[0, false]]);
  });

  it('R44 cost to 1e-9, by bucket', async () => {
    const written = { input: 3, cacheWrite: 12_304, output: 550 };
    const first = await counted('writes', wireAnswer('anthropic', { text: 'Hi', finish: 'stop', usage: written }));
    expect(first.usage).toEqual({ input: 3, cacheRead: 0, cacheWrite: 12_304, output: 550 });
    expect(first.cost).toBeCloseTo(0.054399, 9);
    const read = { input: 20_212 - 16_298, cacheRead: 16_298, output: 931 };
    const second = await counted('reads', wireAnswer('chat', { text: 'Hi', finish: 'stop', usage: read }));
    expect(second.usage).toEqual({ input: 3_914, cacheRead: 16_298, cacheWrite: 0, output: 931 });
    expect(second.cost).toBeCloseTo(0.0055649, 9);
    // As xAI counts: the total holds reasoning beside the completion.
    const beside = {
      prompt_tokens: 12,
      completion_tokens: 2,
      total_tokens: 354,
      prompt_tokens_details: { cached_tokens: 11 },
      completion_tokens_details: { reasoning_tokens: 340 },
    };
    const frame = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }], usage: beside };
    const third = await counted('thinks', { chunks: [`data: ${JSON.stringify(frame)}\n\n`] });
    expect(third.usage).toEqual({ input: 1, cacheRead: 11, cacheWrite: 0, output: 342 });
    expect(third.cost).toBeCloseTo(0.000172125, 9);
  });
});
