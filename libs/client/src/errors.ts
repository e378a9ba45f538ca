import type { OutcomeCode } from '@jetloop/contracts';

/**
 * A command that was refused, by the orchestrator or, before anything was sent, by this library. Nothing has changed.
 * `unavailable` and `full` may be tried again later (after `retryAfterMs` where it is given); the others need another command.
 */
export class CommandRefusedError extends Error {
  override readonly name = 'CommandRefusedError';
  constructor(
    readonly code: OutcomeCode,
    message: string,
    /** Milliseconds to wait before another try. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** There is no session of this id in this tenant. */
export class SessionNotFoundError extends Error {
  override readonly name = 'SessionNotFoundError';
  readonly code = 'not_found';
  constructor(
    readonly tenant: string,
    readonly session: string,
  ) {
    super(`There is no session ${session} in tenant ${tenant}: check both names.`);
  }
}
