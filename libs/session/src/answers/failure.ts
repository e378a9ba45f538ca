import type { Attempt, SessionEvent } from '@jetloop/contracts';
import type { TurnState } from '../state.js';

/** A failure of the open turn: its `turn.end` follows. `attempts` are those of the model call that failed. */
export function failure(
  turn: TurnState,
  step: number,
  code: string,
  message: string,
  attempts: readonly Attempt[] = [],
): SessionEvent {
  const error = { name: errorName(code), code, message };
  return {
    type: 'turn.error',
    data: { turn: turn.turn, step, error, ...(attempts.length > 0 ? { attempts: [...attempts] } : {}) },
  };
}

/** `rate_limited` -> `RateLimited`. */
function errorName(code: string): string {
  return code
    .split('_')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
