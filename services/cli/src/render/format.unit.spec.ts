import { expect, it } from '@jest/globals';
import { cost, duration, oneLine, wrap } from './format.js';

it.each([
  [0, '0 ms'],
  [12.4, '12 ms'],
  [999.7, '1.0 s'],
  [1_234, '1.2 s'],
  [59_960, '1 min 00 s'],
  [125_000, '2 min 05 s'],
])('shows %d ms as %s', (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text);
});

it.each([
  [null, 'cost unknown'],
  [0, '$0'],
  [0.00001, '< $0.0001'],
  [1.5, '$1.5000'],
])('shows the cost %d as %s', (usd, text) => {
  expect(cost(usd)).toBe(text);
});

it('cuts between characters, not inside one', () => {
  expect(oneLine('😀😀😀', 2)).toBe('😀…');
});

it('wraps between words', () => {
  expect(wrap('one two three\nfour', 8)).toEqual(['one two', 'three', 'four']);
});
