import { OUTPUT_LIMIT } from '../tool/cut-output.js';
import { characterEnd } from '../tool/utf8-edge.js';

/** Leaves room for the note; a page of bytes that grow when decoded is cut by the runner. */
const PAGE_BYTES = OUTPUT_LIMIT - 1024;
const LINE_BYTES = 16 * 1024;
const NEWLINE = 10;

/** Picks `limit` lines from line `first` (from 1) out of a file that comes in chunks; memory stays within one page. */
export class LinePage {
  #line = 1;
  #lineBytes = 0;
  #bytes = 0;
  #last = 0;
  #cutLines = 0;
  #ended = false;
  #parts: Buffer[] = [];
  #current: Buffer[] = [];

  constructor(
    private readonly first: number,
    private readonly limit: number,
  ) {}

  /** No line after those seen can come on this page. */
  isFull = false;

  write(chunk: Buffer): void {
    for (let from = 0; from < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, from);
      const to = newline === -1 ? chunk.length : newline + 1;
      this.#take(chunk.subarray(from, to));
      if (newline !== -1) this.#closeLine();
      from = to;
    }
  }

  /** The file is at its end: a last line without newline counts as a line. */
  end(): void {
    if (this.#lineBytes > 0) this.#closeLine();
    this.#ended = true;
  }

  read(): { text: string; note?: string } {
    const text = Buffer.concat(this.#parts).toString('utf8');
    const total = this.#line - 1;
    if (this.#ended && total === 0) return { text, note: '[the file is empty]' };
    if (this.#ended && this.first > total) return { text, note: `[the file has only ${total} lines]` };
    const isWhole = this.#ended && this.first === 1 && this.#last === total;
    const of = this.#ended ? ` of ${total}` : '';
    const more = this.#ended && this.#last === total ? '' : `; go on with offset ${this.#last + 1}`;
    const cut = this.#cutLines > 0 ? `; ${this.#cutLines} lines longer than ${LINE_BYTES} bytes are cut` : '';
    if (isWhole && cut === '') return { text };
    return { text, note: `[lines ${this.first} to ${this.#last}${of}${more}${cut}]` };
  }

  #take(piece: Buffer): void {
    // One byte more than is shown tells that the line is longer.
    const room = LINE_BYTES + 4 - this.#lineBytes;
    this.#lineBytes += piece.length;
    if (!this.isFull && this.#line >= this.first && room > 0) this.#current.push(Buffer.from(piece.subarray(0, room)));
  }

  #closeLine(): void {
    if (!this.isFull && this.#line >= this.first) {
      const bytes = Buffer.concat(this.#current);
      const isLong = this.#lineBytes > LINE_BYTES;
      const shown = isLong
        ? Buffer.concat([
            bytes.subarray(0, characterEnd(bytes, LINE_BYTES)),
            Buffer.from(`[... line of ${this.#lineBytes} bytes cut ...]\n`),
          ])
        : bytes;
      if (this.#parts.length > 0 && this.#bytes + shown.length > PAGE_BYTES) this.isFull = true;
      else {
        this.#parts.push(shown);
        this.#bytes += shown.length;
        this.#last = this.#line;
        if (isLong) this.#cutLines += 1;
        if (this.#parts.length >= this.limit) this.isFull = true;
      }
    }
    this.#current = [];
    this.#lineBytes = 0;
    this.#line += 1;
  }
}
