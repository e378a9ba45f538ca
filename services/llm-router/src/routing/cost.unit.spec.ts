import { describe, expect, it } from '@jest/globals';
import { pricesSchema } from '../catalogue/catalogue.js';
import { costOf, sumOf } from './cost.js';

const usage = (input: number, cacheRead: number, cacheWrite: number, output: number) => ({
  input,
  cacheRead,
  cacheWrite,
  output,
});

describe('costOf', () => {
  it('R44: is bucket times price, to 1e-9', () => {
    const written = pricesSchema.parse({ input: 3, cacheWrite: 3.75, output: 15 });
    expect(costOf(usage(3, 0, 12_304, 550), written)).toBeCloseTo(0.054399, 9);
    const cached = pricesSchema.parse({ input: 0.5, cacheRead: 0.05, output: 3 });
    expect(costOf(usage(20_212 - 16_298, 16_298, 0, 931), cached)).toBeCloseTo(0.0055649, 9);
    const beside = pricesSchema.parse({ input: 0.3, cacheRead: 0.075, output: 0.5 });
    expect(costOf(usage(1, 11, 0, 342), beside)).toBeCloseTo(0.000172125, 9);
  });

  it('takes the input price for cached tokens where none is given', () => {
    expect(costOf(usage(0, 1_000_000, 1_000_000, 0), pricesSchema.parse({ input: 2, output: 0 }))).toBe(4);
  });

  it('is null, not 0, where the price or the usage is unknown', () => {
    expect(costOf(usage(1, 0, 0, 1), undefined)).toBeNull();
    expect(costOf(undefined, pricesSchema.parse({ input: 1, output: 1 }))).toBeNull();
  });
});

describe('sumOf', () => {
  it('is null when one of the parts is unknown', () => {
    expect(sumOf([0.25, 0.5])).toBe(0.75);
    expect(sumOf([0.25, null])).toBeNull();
    expect(sumOf([])).toBe(0);
  });
});
