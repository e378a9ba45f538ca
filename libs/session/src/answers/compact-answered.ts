import type { HookReply, LlmReply, SessionEvent } from '@jetloop/contracts';
import { textOf } from '@jetloop/contracts';
import { notCompacted, startCompaction } from '../next/compaction-next.js';
import type { SessionState, TurnState } from '../state.js';
import { decided, misplaced } from './policy-marks.js';

/** A compaction that policies do not object to begins. */
export function compactAnswered(state: SessionState, turn: TurnState, { result }: HookReply): SessionEvent[] {
  const trigger = turn.compaction?.trigger ?? 'policy';
  const refused = (policy: string, decision: 'block' | 'failed', reason: string): SessionEvent[] => [
    decided('pre-compact', policy, decision, { reason }),
    ...notCompacted(turn, trigger, reason),
  ];
  if (result.status === 'deferred') return [];
  if (result.status === 'failed') return refused(result.policy, 'failed', result.error.message);
  const { decision } = result;
  switch (decision.decision) {
    case 'none':
    case 'allow':
      return startCompaction(state, turn, trigger);
    case 'block':
    case 'deny':
      return refused(decision.policy, 'block', decision.reason);
    case 'accept':
    case 'ask':
    case 'block-result':
    case 'continue':
    case 'stop':
    case 'compact':
      return refused(
        'policy' in decision ? decision.policy : 'unnamed',
        'failed',
        misplaced('pre-compact', decision.decision),
      );
  }
}

/** The summary takes the place of what it sums up; without one the conversation stays as it was. */
export function summaryAnswered(turn: TurnState, { result }: LlmReply): SessionEvent[] {
  const { compaction } = turn;
  if (result.status === 'deferred' || !compaction?.range) return [];
  const { cost, attempts, usage = null } = result;
  const ended = (error?: { code: string; message: string }): SessionEvent => ({
    type: 'compaction.end',
    data: { turn: turn.turn, ...(error ? { error } : {}), usage, cost, attempts },
  });
  const notMade = (code: string, message: string): SessionEvent[] => [
    ended({ code, message }),
    ...(turn.cancelling ? [] : notCompacted(turn, compaction.trigger, message)),
  ];
  if (result.status === 'error') return notMade(result.error.code, result.error.message);
  const text = textOf(result.content).trim();
  if (result.finishReason !== 'stop' || text === '')
    return notMade('no_summary', `the model gave no whole summary (${result.finishReason})`);
  const summary = [{ type: 'text' as const, text }];
  const { range: replaced } = compaction;
  return [{ type: 'compaction.summary', data: { turn: turn.turn, summary, replaced } }, ended()];
}
