import { describe, expect, it } from '@jest/globals';
import { parseArguments } from './parse-arguments.js';

const MALFORMED: [kind: string, raw: string, message: RegExp][] = [
  ['truncated object', '{"path":"a', /one JSON object.*not valid JSON/],
  ['truncated after a colon', '{"path":', /not valid JSON/],
  ['trailing comma', '{"path":"a",}', /not valid JSON/],
  ['single quotes', "{'path':'a'}", /not valid JSON/],
  ['bare keys', '{path:"a"}', /not valid JSON/],
  ['code fence', '```json\n{"path":"a"}\n```', /not valid JSON/],
  ['two objects', '{"path":"a"}{"path":"b"}', /not valid JSON/],
  ['raw newline in a string', '{"path":"a\nb"}', /not valid JSON/],
  ['NaN', '{"path":"a","limit":NaN}', /not valid JSON/],
  ['array', '["a"]', /one JSON object.*an array/],
  ['null', 'null', /one JSON object.*null/],
  ['number', '42', /one JSON object.*a number/],
  ['string, JSON in JSON', '"{\\"path\\":\\"a\\"}"', /one JSON object.*a string/],
  ['duplicate key', '{"path":"a","path":"b"}', /key "path" is there twice/],
  [
    'duplicate key, deep and spelt in two ways',
    '{"path":"a","edits":[{},{"from":"1","fr\\u006fm":"2"}]}',
    /"edits\.1\.from"/,
  ],
  ['nested too deep', `{"path":${'['.repeat(200)}${']'.repeat(200)}}`, /more than 100 levels/],
  ['half a surrogate pair', '{"path":"\\ud83d"}', /half a character/],
  ['number too large for a number', '{"path":"a","limit":1e999}', /too large/],
];

describe('arguments of a call', () => {
  it.each(MALFORMED)('%s: refused, and the message names what was expected', (_kind, raw, message) => {
    const parsed = parseArguments(raw);
    expect(parsed).toEqual({ ok: false, problem: expect.stringMatching(new RegExp(message.source, 's')) });
  });

  it.each(['', '   ', '\n\t'])('blank text %j means no arguments', (raw) => {
    expect(parseArguments(raw)).toEqual({ ok: true, value: {} });
  });

  it('keeps what is unusual but right: escapes, emoji, the same key in two objects, colons and braces in strings', () => {
    const value = {
      path: 'a:{"x":1}\\"🙂\\ud83d',
      edits: [
        { from: 'a', to: 'b' },
        { from: 'a', to: ',[}' },
      ],
    };
    expect(parseArguments(JSON.stringify(value))).toEqual({ ok: true, value });
    expect(parseArguments('{"a":"\\ud83d\\ude42"}')).toEqual({ ok: true, value: { a: '🙂' } });
  });
});
