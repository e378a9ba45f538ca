const LINE_FEED = 0x0a;
const BLANKS = new Set([0x20, 0x09, 0x0d]);

/** Cuts a stream of bytes into lines, without their line feeds. Blank ones, of spaces, tabs and carriage returns, are left out: they say nothing. */
export class LineSplitter {
  private parts: Buffer[] = [];
  private size = 0;

  /** @param limit bytes that a line may have */
  constructor(private readonly limit: number) {}

  /** The lines that end in this piece; `overflow`: one is longer than the limit, and nothing behind it is read. */
  push(piece: Buffer): { readonly lines: Buffer[]; readonly overflow: boolean } {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      if (!this.add(piece.subarray(start, end))) return { lines, overflow: true };
      lines.push(...this.take());
      start = end + 1;
    }
    return { lines, overflow: !this.add(piece.subarray(start)) };
  }

  /** The line that the end of the stream left unfinished. */
  end(): Buffer[] {
    return this.take();
  }

  private add(part: Buffer): boolean {
    if (part.length > 0) this.parts.push(part);
    this.size += part.length;
    return this.size <= this.limit;
  }

  private take(): Buffer[] {
    const line = this.parts.length === 1 ? this.parts[0] : Buffer.concat(this.parts);
    this.parts = [];
    this.size = 0;
    return line === undefined || isBlank(line) ? [] : [line];
  }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => BLANKS.has(byte));
}
