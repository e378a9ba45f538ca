import type { LlmError } from '@jetloop/contracts';

/** Ends an attempt from inside; the adapter turns it into the last part. Never leaves the adapter. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';

  /** @param aboutReasoningState the provider refused the reasoning state of earlier answers */
  constructor(
    readonly error: LlmError,
    readonly aboutReasoningState = false,
  ) {
    super(error.code);
  }
}
