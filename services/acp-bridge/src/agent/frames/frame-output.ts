import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes that may wait for a slow reader: over it nothing is made that can be had later. */
export const MAX_UNSENT_BYTES = 8 * 1024 * 1024;

/** Where frames go. A write never waits; who makes frames asks whether there is room. */
export class FrameOutput {
  /** Frames as bytes. */
  readonly sink: WritableStream<Uint8Array>;
  private isGone = false;

  constructor(private readonly stream: Writable) {
    const gone = () => {
      this.isGone = true;
    };
    stream.on('close', gone).on('error', gone); // The reader went away: the connection's end says so.
    this.sink = new WritableStream({
      write: (chunk) => {
        if (this.isGone) throw new Error('the reader of the frames is gone');
        stream.write(chunk);
      },
    });
  }

  get isFull(): boolean {
    return this.stream.writableLength > MAX_UNSENT_BYTES;
  }

  /** Resolves once the reader has caught up where more than the limit is unsent, or nobody reads any more. */
  async room(): Promise<void> {
    if (this.isFull && !this.isGone) await this.emptied(new AbortController());
  }

  /** Resolves once all is sent, at the latest after so many milliseconds. */
  async flush(milliseconds: number): Promise<void> {
    if (this.stream.writableLength === 0 || this.isGone) return;
    const late = new AbortController();
    await Promise.race([this.emptied(late), sleep(milliseconds, undefined, { ref: false })]);
    late.abort();
  }

  private async emptied(waiting: AbortController): Promise<void> {
    const { signal } = waiting;
    await Promise.race([once(this.stream, 'drain', { signal }), once(this.stream, 'close', { signal })]).catch(
      () => undefined, // An error of the stream, or nobody waits any more: there is nothing to wait for.
    );
    waiting.abort();
  }
}
