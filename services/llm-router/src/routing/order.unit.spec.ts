import { describe, expect, it } from '@jest/globals';
import type { RecordedEvent } from '@jetloop/contracts';
import { order } from './order.js';

const chain = ['a', 'b', 'c'];

function answered(sequence: number, turn: number, target: string | null): RecordedEvent {
  const model = target === null ? null : { target, provider: 'test', model: 'test' };
  return {
    type: 'assistant.message',
    sequence,
    version: 1,
    data: { turn, step: sequence, content: [], finishReason: 'stop', model, usage: null, cost: null, attempts: [] },
  };
}

describe('order', () => {
  it('is the chain in a turn that has no answer yet', () => {
    expect(order(chain, [], 1)).toEqual(['a', 'b', 'c']);
  });

  it('begins with the target that answered last in the turn, and keeps the rotation of the chain', () => {
    expect(order(chain, [answered(0, 1, 'b')], 1)).toEqual(['b', 'c', 'a']);
    expect(order(chain, [answered(0, 1, 'b'), answered(1, 1, 'c')], 1)).toEqual(['c', 'a', 'b']);
    expect(order(chain, [answered(0, 1, 'b'), answered(1, 1, 'a')], 1)).toEqual(['a', 'b', 'c']);
  });

  it('starts from the chain again in the next turn', () => {
    expect(order(chain, [answered(0, 1, 'b')], 2)).toEqual(['a', 'b', 'c']);
  });

  it('is not moved by a target that left the chain, by an answer without model, or by unknown events', () => {
    expect(order(chain, [answered(0, 1, 'gone')], 1)).toEqual(['a', 'b', 'c']);
    expect(order(chain, [answered(0, 1, 'b'), answered(1, 1, null)], 1)).toEqual(['b', 'c', 'a']);
    const unknown = { type: 'assistant.message', sequence: 1, version: 99, data: { turn: 1, model: { target: 'c' } } };
    expect(order(chain, [answered(0, 1, 'b'), unknown], 1)).toEqual(['b', 'c', 'a']);
  });
});
