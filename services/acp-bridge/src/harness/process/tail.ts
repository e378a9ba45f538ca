/** Keeps the last bytes of a stream. */
export class Tail {
  private kept = Buffer.alloc(0);

  constructor(private readonly limit: number) {}

  push(piece: Buffer): void {
    const all = piece.length >= this.limit ? piece : Buffer.concat([this.kept, piece]);
    // A copy: a slice would hold the whole piece in memory.
    this.kept = Buffer.from(all.subarray(Math.max(0, all.length - this.limit)));
  }

  get bytes(): Buffer {
    return this.kept;
  }
}
