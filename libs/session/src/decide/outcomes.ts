import type { OutcomeCode } from '@jetloop/contracts';
import type { UncommittedDecision } from './direct-decision.js';

/** Accepted without a commit: it was before, or there is nothing to do (null). */
export function accepted(sequence: number | null): UncommittedDecision {
  return { kind: 'answered', outcome: { status: 'accepted', sequence } };
}

export function refused(code: OutcomeCode, message: string): UncommittedDecision {
  return { kind: 'answered', outcome: { status: 'refused', code, message } };
}
