/** Infrastructure failed, or something is not there yet: the command is delivered again, later. */
export class RetryableError extends Error {
  override readonly name = 'RetryableError';
  /** Milliseconds until then; undefined: longer with every delivery, by chance. */
  readonly delayMs: number | undefined;
  constructor(message: string, { delayMs, ...options }: ErrorOptions & { readonly delayMs?: number } = {}) {
    super(message, options);
    this.delayMs = delayMs;
  }
}

/** Delivering again cannot help: the command goes to DEAD at once, and its session is told. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  constructor(
    /** Machine-readable: `invalid`, `too_large`, … */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A publish that JetStream refused. `code` is the server's `err_code`. */
export class PublishRefusedError extends Error {
  override readonly name = 'PublishRefusedError';
  constructor(
    readonly subject: string,
    readonly code: number,
    description: string,
  ) {
    super(`${subject}: JetStream refused the message (${code}): ${description}`);
  }
}

/** No PubAck came: the message may or may not be stored. Publish the same again under the same id. */
export class PublishUnknownError extends RetryableError {
  constructor(subject: string, why: string) {
    super(`${subject}: no acknowledgement from JetStream (${why}); the message may or may not be stored`);
  }
}
