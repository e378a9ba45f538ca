import type { TurnEnd } from '@jetloop/contracts';

/** How a turn ended, in words. */
export function describeEnd(reason: TurnEnd): string {
  switch (reason.kind) {
    case 'aborted':
      return `aborted: ${reason.reason}`;
    case 'error':
      return `error (${reason.code}): ${reason.message}`;
    case 'rejected':
      return `rejected: ${reason.reason}`;
    case 'max-tokens':
      return 'ended at the token limit of an answer';
    case 'max-steps':
      return 'ended at the limit of steps';
    case 'budget-exceeded':
      return 'ended: the budget is used up';
    case 'refused':
      return 'ended: the model refused to answer';
    case 'closed':
      return 'ended: the session was closed';
    case 'interrupted':
    case 'completed':
      return reason.kind;
  }
}
