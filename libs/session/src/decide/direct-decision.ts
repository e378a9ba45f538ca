import type { Outcome, SessionEvent } from '@jetloop/contracts';
import type { AwaitedWork } from '../work/work.js';

/**
 * What needs no commit. `answered`: a refusal, or an answer from state. `late`: a reply that nobody awaits. `due`: a timer,
 * and the work (if any) whose time has come by it. `asks`: a result that policies see before it is recorded: the question
 * carries it, now or (RFC 3339) at `at`. `gap`: events of an external agent before which others are still to come, from
 * the worker sequence `next` on.
 */
export type UncommittedDecision =
  | { readonly kind: 'answered'; readonly outcome: Outcome }
  | { readonly kind: 'late' }
  | { readonly kind: 'gap'; readonly next: number }
  | { readonly kind: 'due'; readonly commandId?: string }
  | { readonly kind: 'asks'; readonly work: AwaitedWork; readonly at?: string };

/** The events that a command itself makes; what follows from them is `nextEvents`. */
export type DirectDecision =
  { readonly events: readonly SessionEvent[]; readonly outcome?: Outcome } | UncommittedDecision;
