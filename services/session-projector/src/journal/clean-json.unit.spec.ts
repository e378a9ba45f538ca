import { describe, expect, it } from '@jest/globals';
import { cleanJson, mayNeedCleaning } from './clean-json.js';

const bytes = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

describe('cleaning JSON for PostgreSQL', () => {
  it('replaces U+0000 and lone surrogates in texts and keys, at any depth', () => {
    const dirty = { 'k\u0000': ['a\u0000b', { x: '\ud83d', '\udc00y': 'z\udc00' }] };
    expect(mayNeedCleaning(bytes(dirty))).toBe(true);
    expect(cleanJson(dirty)).toEqual({ 'k\uFFFD': ['a\uFFFDb', { x: '\uFFFD', '\uFFFDy': 'z\uFFFD' }] });
  });

  it('leaves emoji, the literal text of an escape, numbers, null and booleans as they are', () => {
    const fine = { text: '😀 \\u0000 \\ud83d', list: [0, -1.5, null, true, false, ''] };
    expect(cleanJson(fine)).toEqual(fine);
  });

  it('needs no look at ordinary text, and finds surrogates escaped in capitals', () => {
    expect(mayNeedCleaning(bytes({ text: 'hello 😀 ü', path: 'C:\\users' }))).toBe(false);
    expect(mayNeedCleaning(Buffer.from('"\\uD83D"'))).toBe(true);
  });

  it('keeps a member named __proto__', () => {
    expect(JSON.stringify(cleanJson(JSON.parse('{"__proto__":{"a":"\\u0000"}}')))).toBe('{"__proto__":{"a":"\uFFFD"}}');
  });
});
