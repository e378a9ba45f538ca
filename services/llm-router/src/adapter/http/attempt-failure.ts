import type { LlmError } from '@jetloop/contracts';

/** Ends an attempt from inside; the adapter turns it into the last part. Never leaves the adapter. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';

  constructor(readonly error: LlmError) {
    super(error.code);
  }
}
