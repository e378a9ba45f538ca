import type { PromptResponse, StopReason } from '@agentclientprotocol/sdk';
import type { TurnEnd } from '@jetloop/contracts';

/** How a prompt is answered: with a stop reason, or with the error that ended its turn. */
export type PromptAnswer =
  | { readonly kind: 'stopped'; readonly response: PromptResponse }
  | { readonly kind: 'failed'; readonly name: string; readonly code: string; readonly message: string };

/** @param errorName the class of the turn's last `turn.error` */
export function answerOf(end: TurnEnd, errorName = 'Error'): PromptAnswer {
  switch (end.kind) {
    case 'completed':
      return stopped('end_turn');
    case 'max-tokens':
      return stopped('max_tokens');
    case 'max-steps':
    case 'budget-exceeded':
      return stopped('max_turn_requests', end.kind);
    case 'refused':
      return stopped('refusal', end.kind);
    case 'rejected':
      return stopped('refusal', end.kind, end.reason);
    case 'aborted':
      return stopped('cancelled', end.kind, end.reason);
    case 'closed':
    case 'interrupted':
      return stopped('cancelled', end.kind);
    case 'error':
      return { kind: 'failed', name: errorName, code: end.code, message: end.message };
  }
}

/** The answer to a prompt that was cancelled, however its turn ended. */
export const cancelledAnswer: PromptAnswer = stopped('cancelled');

/** What the protocol's five words do not tell apart stands in `_meta`. */
function stopped(stopReason: StopReason, end?: TurnEnd['kind'], reason?: string): PromptAnswer {
  const told = { ...(end === undefined ? {} : { end }), ...(reason === undefined ? {} : { reason }) };
  return { kind: 'stopped', response: { stopReason, ...(end === undefined ? {} : { _meta: { jetloop: told } }) } };
}
