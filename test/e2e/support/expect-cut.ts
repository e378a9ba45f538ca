import { expect } from '@jest/globals';

const LIMIT = 64 * 1024;

/**
 * A text is the head and the tail of `whole`, byte for byte, around a marker that says how much is missing.
 * @param after what follows the tail
 */
export function expectCut(text: string, whole: Buffer, after = ''): void {
  const parts = /^(.*)\n\[\.\.\. (\d+) of (\d+) bytes cut here, after line \d+\. [^\n]+ \.\.\.\]\n(.*)$/s.exec(text);
  expect(parts).not.toBeNull();
  const [, head = '', missing, total, rest = ''] = parts ?? [];
  expect(rest.endsWith(after)).toBe(true);
  const [start, end] = [Buffer.from(head), Buffer.from(rest.slice(0, rest.length - after.length))];
  expect({
    head: start.equals(whole.subarray(0, start.length)),
    tail: end.equals(whole.subarray(-end.length)),
  }).toEqual({
    head: true,
    tail: true,
  });
  expect({ missing, total }).toEqual({
    ...{ missing: String(whole.length - start.length - end.length), total: String(whole.length) },
  });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMIT);
  expect(Math.min(start.length, end.length)).toBeGreaterThan(LIMIT / 2 - 1_024);
}
