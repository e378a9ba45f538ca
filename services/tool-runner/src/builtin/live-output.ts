import { StringDecoder } from 'node:string_decoder';

const EVERY_MS = 200;
const AT_MOST = 4096;

/** Shows running output at most five times a second and 4096 characters at a time: what is skipped is in the result. */
export class LiveOutput {
  readonly #decoder = new StringDecoder('utf8');
  #timer: NodeJS.Timeout | undefined;
  #waiting = '';

  constructor(private readonly show: (text: string) => void) {}

  write(chunk: Buffer): void {
    this.#waiting = `${this.#waiting}${this.#decoder.write(chunk)}`.slice(-AT_MOST);
    this.#timer ??= setTimeout(() => {
      this.end();
    }, EVERY_MS);
  }

  /** Shows what still waits. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // The first character may be the second half of one: the window is cut by length.
    if (this.#waiting !== '') this.show(this.#waiting.toWellFormed());
    this.#waiting = '';
  }
}
