import type { HarnessError } from '@jetloop/contracts';

/** Ends an attempt: whose fault it is, and what happened. */
export class HarnessFailure extends Error {
  override readonly name = 'HarnessFailure';
  constructor(readonly error: HarnessError) {
    super(error.message);
  }
}

export function transport(code: string, message: string): HarnessFailure {
  return new HarnessFailure({ name: 'Transport', code, message });
}

export function protocol(code: string, message: string): HarnessFailure {
  return new HarnessFailure({ name: 'Protocol', code, message });
}

export function harness(code: string, message: string): HarnessFailure {
  return new HarnessFailure({ name: 'Harness', code, message });
}
