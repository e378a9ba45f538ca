import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { nextHash } from './hash-chain.js';

const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

describe('nextHash', () => {
  it('is the SHA-256 of the first event alone, then of the hash before and the event', () => {
    const first = nextHash(undefined, Buffer.from('{"a":1}'));
    expect(Buffer.from(first).toString('hex')).toBe(sha256('{"a":1}'));
    const second = nextHash(first, Buffer.from('{}'));
    expect(Buffer.from(second).toString('hex')).toBe(sha256(Buffer.concat([first, Buffer.from('{}')])));
  });
});
