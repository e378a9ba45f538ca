import { describe, expect, it } from '@jest/globals';
import { arrayText } from './array-text.js';

describe('arrayText', () => {
  it('quotes whatever the text of an array gives a meaning to', () => {
    const texts = ['plain', '', 'null', 'NULL', 'a,b', '{x}', 'say "hi"', 'back\\slash', ' space ', null, undefined];
    expect(arrayText(texts, 'text')).toBe(
      '{plain,"","null","NULL","a,b","{x}","say \\"hi\\"","back\\\\slash"," space ",NULL,NULL}',
    );
  });

  it('writes values of a JSON column as JSON, texts among them too', () => {
    expect(arrayText(['text', 1, { a: 'b' }, [], null], 'jsonb')).toBe(
      '{"\\"text\\"",1,"{\\"a\\":\\"b\\"}","[]",NULL}',
    );
  });

  it('writes numbers, truth values and bytes', () => {
    expect(arrayText([1e21, 0.1, -3], 'double precision')).toBe('{1e+21,0.1,-3}');
    expect(arrayText([true, false], 'boolean')).toBe('{true,false}');
    expect(arrayText(['\\x00ff'], 'bytea')).toBe('{"\\\\x00ff"}');
  });
});
