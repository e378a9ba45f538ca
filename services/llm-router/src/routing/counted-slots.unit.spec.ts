import { describe, expect, it } from '@jest/globals';
import { CountedSlots } from './counted-slots.js';

describe('CountedSlots', () => {
  it('gives as many slots a name as its limit says, and again those that were given back', () => {
    const slots = new CountedSlots();
    const first = slots.enter('a', 2);
    expect(slots.enter('a', 2)).toBeDefined();
    expect(slots.enter('a', 2)).toBeUndefined();
    expect(slots.enter('b', 2)).toBeDefined();
    first?.();
    expect(slots.enter('a', 2)).toBeDefined();
    expect(slots.enter('a', 2)).toBeUndefined();
  });

  it('without a limit never ends', () => {
    const slots = new CountedSlots();
    for (let n = 0; n < 100; n++) expect(slots.enter('a', undefined)).toBeDefined();
  });
});
