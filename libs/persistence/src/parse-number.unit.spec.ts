import { describe, expect, it } from '@jest/globals';
import { parseNumber, parseNumberOrText } from './parse-number.js';

describe('parseNumber', () => {
  it('reads integers and decimals', () => {
    expect(['0', '-7', '9007199254740991', '0.0125'].map(parseNumber)).toEqual([0, -7, 9007199254740991, 0.0125]);
  });

  it('refuses an integer that a number would round', () => {
    expect(() => parseNumber('9007199254740993')).toThrow(RangeError);
  });
});

describe('parseNumberOrText', () => {
  it.each([
    ['12', 12],
    ['100', 100],
    ['0.00', 0],
    ['2.5000', 2.5],
    ['-0.125', -0.125],
    ['9007199254740993', '9007199254740993'],
    ['0.1234567890123456789', '0.1234567890123456789'],
    ['NaN', NaN],
  ])('reads %s', (text, expected) => {
    expect(parseNumberOrText(text)).toBe(expected);
  });
});
