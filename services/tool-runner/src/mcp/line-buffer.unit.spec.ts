import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LineBuffer, LineOverflowError } from './line-buffer.js';

it('gives the lines of a text whatever pieces it comes in, characters cut by them included', () => {
  const pieces = fc.array(fc.nat({ max: 12 }), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(fc.constantFrom('', 'a', 'é🙂', '{"a": 1}\r', 'x'.repeat(40))), pieces, (lines, sizes) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const buffer = new LineBuffer(100);
      const seen: string[] = [];
      for (let at = 0, n = 0; at < bytes.length; n++) {
        const end = at + 1 + (sizes[n % sizes.length] ?? 0);
        seen.push(...buffer.take(bytes.subarray(at, end)));
        at = end;
      }
      expect(seen).toEqual(lines);
    }),
  );
});

it('refuses a line over its limit, in one piece or in many', () => {
  expect(() => [...new LineBuffer(10).take(Buffer.from('12345678901\n'))]).toThrow(LineOverflowError);
  const buffer = new LineBuffer(10);
  expect([...buffer.take(Buffer.from('1234567890\n12345'))]).toEqual(['1234567890']);
  expect([...buffer.take(Buffer.from('67890'))]).toEqual([]);
  expect(() => [...buffer.take(Buffer.from('1'))]).toThrow(LineOverflowError);
});
