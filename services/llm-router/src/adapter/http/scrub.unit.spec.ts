import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { schemaWords } from './schema-words.js';
import { scrub } from './scrub.js';

const PROMPT = 'The canary sings: "día" at\ndawn';

describe('scrub', () => {
  it.each([
    ['as it is', PROMPT],
    ['as it was sent', JSON.stringify(PROMPT)],
    ['with all escaped that is not ASCII', 'The canary sings: \\"d\\u00eda\\" at\\ndawn'],
    ['in part', PROMPT.slice(4, 19)],
  ])('cuts out what a provider echoes %s', (_how, echo) => {
    const kept = scrub(`Not like this: ${echo} (see the manual)`, [PROMPT]);
    expect(kept).toMatch(/^Not like this:.{0,3}\[…\].{0,3} \(see the manual\)$/);
  });

  it('cuts out short texts whole, and what looks like a key', () => {
    expect(scrub('role nope in "hush", sk-abcdef12', ['hush', 'o'])).toBe('role nope in "[…]", [key]');
  });

  it('keeps what is not from the request, up to 500 characters', () => {
    expect(scrub('x'.repeat(2_000), ['y'.repeat(2_000)])).toBe('x'.repeat(500));
  });

  it('shares no run of 8 characters with the request, whatever both are', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '"', 'é', '\n'), maxLength: 60 });
    fc.assert(
      fc.property(text, text, text, (secret, before, after) => {
        const kept = scrub(before + secret + after, [secret]).split('[…]');
        for (let at = 0; at + 8 <= secret.length; at++) {
          expect(kept.some((piece) => piece.includes(secret.slice(at, at + 8)))).toBe(false);
        }
      }),
    );
  });
});

it('of a schema its words are cut out, not its shape', () => {
  const title = {
    type: 'string',
    title: 'secret title',
    description: 'secret words',
    enum: ['secret one', { a: 'b' }],
  };
  const schema = {
    type: 'object',
    properties: { title, list: { items: { const: 'secret two' } } },
    required: ['title'],
  };
  expect(schemaWords(schema)).toEqual(['secret title', 'secret words', 'secret one', 'b', 'secret two']);
});
