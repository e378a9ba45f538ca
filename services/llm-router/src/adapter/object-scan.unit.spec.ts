import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ObjectScan } from './object-scan.js';

it('an object is closed at its last character, however its text is cut', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(object, fc.integer({ min: 1, max: 5 }), (value, size) => {
      const text = JSON.stringify(value);
      const scan = new ObjectScan();
      for (let at = 0; at < text.length; at += size) {
        expect(scan.isClosed).toBe(false);
        scan.feed(text.slice(at, at + size));
      }
      expect(scan.isClosed).toBe(true);
    }),
  );
});
