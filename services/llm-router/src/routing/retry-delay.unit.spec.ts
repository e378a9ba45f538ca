import { describe, expect, it } from '@jest/globals';
import { llmErrorCodes, type LlmError } from '@jetloop/contracts';
import { catalogueOf } from '../catalogue/catalogue.js';
import { isRetriedWithinTarget, retryDelay } from './retry-delay.js';

const targets = { a: { provider: 'test', dialect: 'scripted', model: 'm', jitterBackoff: 500, maxRetryAfter: 60_000 } };
const target = catalogueOf({ targets }, 'test').get('a')!;
const limited = (retryAfterMs?: number): LlmError => ({
  code: 'rate_limited',
  message: 'slow down',
  retryable: true,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const half = () => 0.5;

describe('retryDelay', () => {
  it('is a random share of a backoff that doubles', () => {
    const delays = [1, 2, 3].map((tries) => retryDelay(limited(), target, tries, 600_000, half));
    expect(delays).toEqual([250, 500, 1_000].map((jitter) => ({ asked: 0, jitter })));
    expect(retryDelay(limited(), target, 1, 600_000, () => 0)).toEqual({ asked: 0, jitter: 0 });
  });

  it('takes what the provider asked for as its floor', () => {
    expect(retryDelay(limited(700), target, 1, 600_000, half)).toEqual({ asked: 700, jitter: 250 });
  });

  it('leaves the target when the wait would be longer than maxRetryAfter or than the time that is left', () => {
    expect(retryDelay(limited(120_000), target, 1, 600_000, half)).toBeUndefined();
    expect(retryDelay(limited(3_000), target, 1, 2_000, half)).toBeUndefined();
    expect(retryDelay(limited(), target, 1, 0, half)).toBeUndefined();
  });

  it('never waits beyond the time that is left', () => {
    expect(retryDelay(limited(), target, 8, 1_000, half)).toEqual({ asked: 0, jitter: 1_000 });
  });
});

describe('isRetriedWithinTarget', () => {
  it('holds for 429, 503, 529 and what broke on the way, and for nothing else', () => {
    const retried = llmErrorCodes.filter((code) => isRetriedWithinTarget({ code, message: '', retryable: false }));
    expect(retried).toEqual(['rate_limited', 'overloaded', 'network', 'incomplete_stream']);
  });
});
