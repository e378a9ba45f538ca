import { describe, expect, it } from '@jest/globals';
import { cutText, OUTPUT_LIMIT } from './cut-output.js';
import { OutputCollector } from './output-collector.js';

const MiB = 1024 * 1024;
async function collect(chunks: Iterable<Uint8Array>, options: ConstructorParameters<typeof OutputCollector>[0] = {}) {
  const collector = new OutputCollector(options);
  for (const chunk of chunks) if (!(await collector.write(chunk))) break;
  return collector.finish();
}
function* repeated(text: string, bytes: number) {
  const chunk = Buffer.from(text.repeat(Math.ceil(MiB / text.length)));
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk.subarray(0, bytes - sent);
}
const isWhole = (text: string) => text.isWellFormed() && !text.includes('\ufffd');

describe('output for the model', () => {
  it('is kept as it is up to the limit, and cut from one byte more', async () => {
    const exact = await collect([Buffer.from('x'.repeat(OUTPUT_LIMIT))]);
    expect(exact).toEqual({
      text: 'x'.repeat(OUTPUT_LIMIT),
      totalBytes: OUTPUT_LIMIT,
      truncated: false,
      binary: false,
    });
    const more = await collect([Buffer.from('x'.repeat(OUTPUT_LIMIT)), Buffer.from('y')], { hint: 'Use a page' });
    expect(more.truncated).toBe(true);
    expect(more.text).toMatch(/^x+\n\[\.\.\. \d+ of 65537 bytes cut here, after line 0\. Use a page \.\.\.\]\nx+y$/);
    expect(Buffer.byteLength(more.text)).toBeLessThanOrEqual(OUTPUT_LIMIT);
  });

  it('has head and tail of a million lines, and says how much is missing between them', async () => {
    const lines = Array.from({ length: 1_000_000 }, (_, i) => `line ${i + 1}\n`).join('');
    const { text, truncated } = await collect(chunked(Buffer.from(lines), 65_000));
    expect(truncated).toBe(true);
    const [, head, cut, total, line, tail] =
      /^(.*)\n\[\.\.\. (\d+) of (\d+) bytes cut here, after line (\d+)\. .* \.\.\.\]\n(.*)$/s.exec(text)!;
    expect(Number(total)).toBe(lines.length);
    expect(Number(cut)).toBe(lines.length - head!.length - tail!.length);
    expect(lines.startsWith(head!)).toBe(true);
    expect(lines.endsWith(tail!)).toBe(true);
    expect(head!.split('\n').length - 1).toBe(Number(line));
  });

  it.each(['🙂', 'é', '€', 'a🙂', '👩‍👩‍👧'])('never cuts within a character (%s), wherever the cut falls', async (unit) => {
    for (let shift = 0; shift < 8; shift += 1) {
      const text = 'x'.repeat(shift) + unit.repeat(1000);
      for (const limit of [600, 601, 602, 603, 604, 605]) {
        const collected = await collect(chunked(Buffer.from(text), 7), { limit });
        const cut = cutText(text, { limit });
        for (const shown of [collected.text, cut.text]) {
          expect(isWhole(shown)).toBe(true);
          expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(limit);
        }
        expect([collected.truncated, cut.truncated]).toEqual([true, true]);
      }
    }
  });

  it('stays in flat memory for 50 MB', async () => {
    const collector = new OutputCollector();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (const chunk of repeated('some output 🙂\n', 50 * MiB)) {
      await collector.write(chunk);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    // One chunk of a mebibyte and the two ends, with room for what is not yet collected.
    expect(most).toBeLessThan(8 * MiB);
    const { totalBytes, truncated, text } = await collector.finish();
    expect({ totalBytes, truncated }).toEqual({ totalBytes: 50 * MiB, truncated: true });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(OUTPUT_LIMIT);
  });

  it('gives the whole to a sink once it is too long for the model, up to the limit of the whole', async () => {
    const source = Buffer.from(Array.from({ length: 30_000 }, (_, i) => `${i}\n`).join(''));
    const whole: Uint8Array[] = [];
    const openSink = () => ({
      write: (chunk: Uint8Array) => Promise.resolve(void whole.push(Buffer.from(chunk))),
      end: () => Promise.resolve('blob-1'),
    });
    const result = await collect(chunked(source, 999), { openSink, wholeLimit: 100_000 });
    expect(result).toMatchObject({ whole: 'blob-1', totalBytes: 100_000, truncated: true });
    expect(Buffer.concat(whole).equals(source.subarray(0, 100_000))).toBe(true);
    whole.length = 0;
    expect(await collect([source.subarray(0, 10)], { openSink })).not.toHaveProperty('whole');
    expect(whole).toEqual([]);
  });

  it('asks to end a writer at the limit of the whole', async () => {
    const collector = new OutputCollector({ wholeLimit: 1000 });
    expect(await collector.write(Buffer.alloc(999, 65))).toBe(true);
    expect(await collector.write(Buffer.alloc(999, 65))).toBe(false);
    expect((await collector.finish()).totalBytes).toBe(1000);
  });

  it.each([
    ['PNG image', Buffer.from('89504e470d0a1a0a0000000d', 'hex')],
    ['ELF program', Buffer.from('7f454c460201010000', 'hex')],
    ['unknown type', Buffer.from(Array.from({ length: 4096 }, (_, i) => 128 + ((i * 7) % 128)))],
  ])('describes binary data (%s) and does not dump it', async (type, bytes) => {
    const { text, binary } = await collect([bytes]);
    expect({ text, binary }).toEqual({
      text: `[binary data, ${type}, ${bytes.length} bytes, not shown]`,
      binary: true,
    });
  });

  it('shows text in an old encoding, with what cannot be read marked', async () => {
    const { text, binary } = await collect([Buffer.from('ein schöner alter Brief ohne Zeichensatz', 'latin1')]);
    expect({ text, binary }).toEqual({ text: 'ein sch\ufffdner alter Brief ohne Zeichensatz', binary: false });
  });

  it('stays within the limit when unreadable bytes grow', async () => {
    const line = Buffer.concat([Buffer.from('abcdefghijklmno'), Buffer.from([0xff])]);
    const { text } = await collect([Buffer.concat(Array.from({ length: OUTPUT_LIMIT / 16 }, () => line))]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(OUTPUT_LIMIT);
  });
});

function* chunked(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
