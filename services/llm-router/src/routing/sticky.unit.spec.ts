import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '@jetloop/contracts';
import { order } from './order.js';
import { answer, fail, FakeProvider, optionsFor, type Answer } from './route-driver.fixture.spec.js';
import { route } from './route.js';

type Script = Readonly<Record<string, readonly Answer[]>>;

/** Runs steps of turns as the services do: each derives its order from the log alone, as any replica would. */
async function conversation(script: Script, steps: readonly { turn: number; step: number }[]): Promise<FakeProvider> {
  const fake = new FakeProvider(script);
  const chain = Object.keys(script);
  const log: RecordedEvent[] = [];
  const catalogue = new Map(chain.flatMap((name) => [...optionsFor(name).catalogue]));
  for (const { turn, step } of steps) {
    const routed = await route({
      ...optionsFor('a'),
      catalogue,
      adapters: { scripted: fake, chat: fake, anthropic: fake, google: fake },
      order: order(chain, log, turn),
      primary: chain[0],
    });
    if (routed.kind !== 'answer') break;
    const { said, finish: finishReason, usage } = routed.tried;
    const data = { turn, step, content: [], finishReason, model: said.model, usage, cost: null, attempts: [] };
    log.push({ type: 'assistant.message', sequence: log.length, version: 1, data });
  }
  return fake;
}

const oneTurn = (steps: number) => Array.from({ length: steps }, (_, n) => ({ turn: 1, step: n + 1 }));
const turns = (count: number) => Array.from({ length: count }, (_, n) => ({ turn: n + 1, step: 1 }));
const broken = fail('overloaded');

describe('a run is one turn', () => {
  it('R6: goes on with the fallback that answered', async () => {
    const { calls } = await conversation({ a: [broken], b: [answer('call'), answer('done')] }, oneTurn(2));
    expect(calls).toEqual(['a', 'b', 'b']);
  });

  it('R7: rotations compose: a fails once, b after its first answer, c always', async () => {
    const script = { a: [broken, answer('back')], b: [answer('one'), broken], c: [broken] };
    expect((await conversation(script, oneTurn(2))).calls).toEqual(['a', 'b', 'b', 'c', 'a']);
  });

  it('R8: the next turn starts from the chain again', async () => {
    const script = { a: [broken], b: [answer('b')] };
    const twice = [...oneTurn(2), { turn: 2, step: 1 }, { turn: 2, step: 2 }];
    expect((await conversation(script, twice)).calls).toEqual(['a', 'b', 'b', 'a', 'b', 'b']);
  });

  it('R18: in 10 turns one failure moves one turn', async () => {
    const ok = answer('a');
    const script = { a: [ok, ok, ok, broken, ok], b: [answer('b')] };
    const { calls } = await conversation(script, turns(10));
    expect(calls).toEqual(['a', 'a', 'a', 'a', 'b', 'a', 'a', 'a', 'a', 'a', 'a']);
  });
});
