import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimNumber } from './claim-number.js';

describe('claimNumber', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jetloop-claims-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('gives no number twice, even at the same time', async () => {
    const numbers = await Promise.all(Array.from({ length: 8 }, () => claimNumber(folder, 8)));
    expect(numbers.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('says when there are no more', async () => {
    await claimNumber(folder, 1);
    await expect(claimNumber(folder, 1)).rejects.toThrow('All 1 numbers');
  });

  it('does not take a missing folder for a claim', async () => {
    await expect(claimNumber(join(folder, 'missing'), 3)).rejects.toThrow('ENOENT');
  });
});
