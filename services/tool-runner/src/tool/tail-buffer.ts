/** A ring that holds the last `size` bytes written. */
export class TailBuffer {
  readonly #ring: Buffer;
  #written = 0;

  constructor(size: number) {
    this.#ring = Buffer.alloc(size);
  }

  write(chunk: Uint8Array): void {
    const size = this.#ring.length;
    const last = chunk.subarray(Math.max(chunk.length - size, 0));
    const at = (this.#written + chunk.length - last.length) % size;
    const first = last.subarray(0, size - at);
    this.#ring.set(first, at);
    this.#ring.set(last.subarray(first.length), 0);
    this.#written += chunk.length;
  }

  read(): Buffer {
    const size = this.#ring.length;
    if (this.#written <= size) return Buffer.from(this.#ring.subarray(0, this.#written));
    const at = this.#written % size;
    return Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]);
  }
}
