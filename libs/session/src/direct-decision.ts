import type { Outcome, SessionEvent } from '@jetloop/contracts';

/** The events that a command itself makes; what follows from them is `nextEvents`. */
export type DirectDecision =
  | { readonly events: readonly SessionEvent[]; readonly outcome?: Outcome }
  | { readonly kind: 'answered'; readonly outcome: Outcome }
  | { readonly kind: 'late' }
  | { readonly kind: 'due'; readonly commandId?: string };
