import { characterEnd, characterStart } from './utf8-edge.js';

/** What goes to the model of one result, in bytes of UTF-8. */
export const OUTPUT_LIMIT = 64 * 1024;

export interface CutOptions {
  /** Bytes of UTF-8, marker included; default {@link OUTPUT_LIMIT}, at least 512. */
  limit?: number;
  /** How to see what was cut. */
  hint?: string;
}

/** Keeps head and tail of a text that is too long for the model, with a marker that says what is missing. */
export function cutText(text: string, options: CutOptions = {}): { text: string; truncated: boolean } {
  const bytes = Buffer.from(text);
  const limit = limitOf(options);
  if (bytes.length <= limit) return { text: text.toWellFormed(), truncated: false };
  return { text: joinCut(bytes, bytes, bytes.length, options), truncated: true };
}

/** Head and tail (each at least half the limit long) of an output of `total` bytes, as one text within the limit. */
export function joinCut(head: Uint8Array, tail: Uint8Array, total: number, options: CutOptions = {}): string {
  // Bytes that are not UTF-8 grow when decoded, so both ends are cut in what will really be sent.
  const start = Buffer.from(decode(head.subarray(0, characterEnd(head, head.length))));
  const end = Buffer.from(decode(tail.subarray(characterStart(tail, 0))));
  const room = Math.floor((limitOf(options) - Buffer.byteLength(marker(total, total, total, options))) / 2);
  const shownHead = start.subarray(0, characterEnd(start, room));
  const shownTail = end.subarray(characterStart(end, end.length - room));
  const lines = shownHead.reduce((count, byte) => count + (byte === 10 ? 1 : 0), 0);
  const cut = Math.max(total - shownHead.length - shownTail.length, 0);
  return `${decode(shownHead)}${marker(cut, total, lines, options)}${decode(shownTail)}`;
}

export const limitOf = (options: CutOptions) => Math.max(options.limit ?? OUTPUT_LIMIT, 512);

const decode = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

function marker(cut: number, total: number, lines: number, { hint }: CutOptions): string {
  // A hint is ours and short; a long one must not eat the room of the output.
  return `\n[... ${cut} of ${total} bytes cut here, after line ${lines}. ${(hint ?? 'Ask for a smaller part to see more').slice(0, 200)} ...]\n`;
}
