/** Keeps the last bytes of a stream. */
export class Tail {
  private kept = Buffer.alloc(0);

  constructor(private readonly limit: number) {}

  push(piece: Buffer): void {
    const all = piece.length >= this.limit ? piece : Buffer.concat([this.kept, piece]);
    // A copy: a slice would hold the whole piece in memory.
    this.kept = Buffer.from(all.subarray(Math.max(0, all.length - this.limit)));
  }

  /** As text; a character that was cut at the front is left out. */
  text(): string {
    const start = this.kept.findIndex((byte) => (byte & 0xc0) !== 0x80);
    return this.kept.subarray(Math.max(0, start)).toString('utf8');
  }
}
