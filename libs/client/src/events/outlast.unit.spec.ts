import { describe, expect, it } from '@jest/globals';
import { RetryableError } from '@jetloop/messaging';
import { outlast } from './outlast.js';

describe('outlast', () => {
  const failing = (failures: Error[]) => {
    let tries = 0;
    const ask = () => {
      const failure = failures[tries++];
      return failure ? Promise.reject(failure) : Promise.resolve('answer');
    };
    return { ask, tries: () => tries };
  };

  it('asks again until there is an answer', async () => {
    const { ask, tries } = failing([new RetryableError('away'), new RetryableError('away')]);
    expect(await outlast(ask, 10_000)).toBe('answer');
    expect(tries()).toBe(3);
  });

  it('gives up after its time, at once when nobody waits any more, and on any other error', async () => {
    const away = Array.from({ length: 9 }, () => new RetryableError('away'));
    await expect(outlast(failing(away).ask, 0)).rejects.toThrow('away');
    await expect(outlast(failing(away).ask, 10_000, AbortSignal.abort())).rejects.toThrow('away');
    const broken = failing([new Error('broken')]);
    await expect(outlast(broken.ask, 10_000)).rejects.toThrow('broken');
    expect(broken.tries()).toBe(1);
  });
});
