const NEWLINE = 10;

/** More than a line may have was written without an end of line. */
export class LineOverflowError extends Error {
  override readonly name = 'LineOverflowError';
}

/** Makes lines of pieces that come one by one. Each byte is looked at once, however long the line is. */
export class LineBuffer {
  #parts: Buffer[] = [];
  #size = 0;

  /** @param limit bytes of one line */
  constructor(private readonly limit: number) {}

  /** The lines that end in this piece, without their ends. @throws LineOverflowError */
  *take(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      from = end + 1;
      const line = Buffer.concat(this.#parts).toString('utf8');
      this.#clear();
      yield line;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= this.limit) return;
    this.#clear();
    throw new LineOverflowError(`expected lines of at most ${this.limit} bytes`);
  }

  #clear(): void {
    this.#parts = [];
    this.#size = 0;
  }
}
