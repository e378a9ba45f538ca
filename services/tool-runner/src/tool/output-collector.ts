import { binaryType, describeBinary } from './binary.js';
import { joinCut, limitOf, type CutOptions } from './cut-output.js';
import { TailBuffer } from './tail-buffer.js';

/** The most that is kept of one output; a process that writes on is ended. */
export const WHOLE_LIMIT = 64 * 1024 * 1024;

/** Where an output too long for the model is kept whole. */
export interface OutputSink {
  write(chunk: Uint8Array): Promise<void>;
  /** A reference by which the whole can be had later. */
  end(): Promise<string | undefined>;
}

export interface CollectorOptions extends CutOptions {
  /** Called once, when the output has outgrown the model's limit. */
  openSink?: (() => OutputSink) | undefined;
  /** Bytes; default {@link WHOLE_LIMIT}. */
  wholeLimit?: number;
}

export interface CollectedOutput {
  text: string;
  totalBytes: number;
  truncated: boolean;
  binary: boolean;
  /** The sink's reference to the whole output. */
  whole?: string;
}

/** Takes an output of any length in memory that does not grow: the first bytes, the last bytes, and the rest to the sink. */
export class OutputCollector {
  readonly #limit: number;
  readonly #wholeLimit: number;
  readonly #head: Buffer;
  readonly #tail: TailBuffer;
  #total = 0;
  #sink: OutputSink | undefined;

  constructor(private readonly options: CollectorOptions = {}) {
    this.#limit = limitOf(options);
    this.#wholeLimit = options.wholeLimit ?? WHOLE_LIMIT;
    this.#head = Buffer.alloc(Math.ceil(this.#limit / 2));
    this.#tail = new TailBuffer(this.#limit - this.#head.length);
  }

  /** False when the limit of the whole is reached: the writer is to be ended, and what comes after is not kept. */
  async write(chunk: Uint8Array): Promise<boolean> {
    const taken = chunk.subarray(0, this.#wholeLimit - this.#total);
    const outgrows = this.#total <= this.#limit && this.#total + taken.length > this.#limit;
    if (outgrows && this.options.openSink) {
      this.#sink = this.options.openSink();
      await this.#sink.write(this.#kept());
    }
    const forHead = taken.subarray(0, Math.max(this.#head.length - this.#total, 0));
    if (forHead.length > 0) this.#head.set(forHead, this.#total);
    this.#tail.write(taken.subarray(forHead.length));
    this.#total += taken.length;
    await this.#sink?.write(taken);
    return this.#total < this.#wholeLimit;
  }

  async finish(): Promise<CollectedOutput> {
    const whole = await this.#sink?.end();
    const truncated = this.#total > this.#limit;
    const kept = this.#kept();
    const type = binaryType(kept);
    const common = { totalBytes: this.#total, truncated, ...(whole === undefined ? {} : { whole }) };
    if (type !== undefined) return { text: describeBinary(type, this.#total), binary: true, ...common };
    const whenWhole = truncated ? undefined : kept.toString('utf8');
    if (whenWhole !== undefined && Buffer.byteLength(whenWhole) <= this.#limit)
      return { text: whenWhole, binary: false, ...common };
    const tail = truncated ? this.#tail.read() : kept;
    const text = joinCut(truncated ? this.#head : kept, tail, this.#total, this.options);
    return { text, binary: false, ...common, truncated: true };
  }

  /** All of an output within the limit; head and tail of a longer one. */
  #kept(): Buffer {
    return Buffer.concat([this.#head.subarray(0, Math.min(this.#total, this.#head.length)), this.#tail.read()]);
  }
}
