import { describe, expect, it } from '@jest/globals';
import { readAnswer } from './read-answer.js';

const read = (text: string) => readAnswer(Buffer.from(text));

describe('the answer of an external hook', () => {
  it.each([
    ['nothing', '', { kind: 'nothing' }],
    ['white space', ' \n\t', { kind: 'nothing' }],
    ['an object', ' {"decision":"block"}\n', { kind: 'json', value: { decision: 'block' } }],
    ['plain text', 'all is well\n', { kind: 'text', text: 'all is well' }],
    ['a log line in brackets', '[INFO] looked at it', { kind: 'text', text: '[INFO] looked at it' }],
    ['text with braces in it', 'use {braces} here', { kind: 'text', text: 'use {braces} here' }],
    ['text with a line that only looks like JSON', 'see\n{not json}', { kind: 'text', text: 'see\n{not json}' }],
    ['a byte order mark before the object', '\ufeff{"a":1}', { kind: 'json', value: { a: 1 } }],
  ])('%s', (_name, text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it.each([
    ['cut JSON', '{"decision":"blo'],
    ['a trailing comma', '{"decision":"block",}'],
    ['two objects', '{"decision":"approve"}{"decision":"block"}'],
    ['an array', '[]'],
    ['an array of objects, cut', '[{"decision":"block"},'],
    ['null', 'null'],
    ['a number', '0'],
    ['a string', '"block"'],
    ['true', 'true'],
    ['a duplicate key', '{"a":1,"a":2}'],
    ['a duplicate key in disguise', '{"a":1,"\\u0061":2}'],
    ['a duplicate key deep inside', '{"a":{"b":[{"c":1,"c":2}]}}'],
    ['half a character', '{"a":"\\ud800"}'],
    ['a number that is none', '{"a":1e999}'],
    ['an object behind other text', 'loading profile\n{"decision":"block","reason":"x"}'],
  ])('%s is an error', (_name, text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'invalid_json' }));
  });

  it('does not quote what it read: it may be what another policy takes out', () => {
    expect(() => read('{"s3cret')).toThrow(/^(?!.*s3cret)/);
  });

  it('refuses what is not UTF-8', () => {
    expect(() => readAnswer(Uint8Array.of(0x7b, 0xff, 0x7d))).toThrow(
      expect.objectContaining({ code: 'invalid_utf8' }),
    );
  });
});
