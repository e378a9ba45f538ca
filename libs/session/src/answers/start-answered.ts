import type { HookReply, SessionEvent } from '@jetloop/contracts';
import type { SessionState } from '../state.js';
import { ALL_POLICIES, answerMarks, contexts, decided, misplaced } from './policy-marks.js';

const SEAM = 'session-start';

/** A session begins, or goes on, with what policies add. A policy that fails is recorded and stops nothing. */
export function startAnswered(state: SessionState, reply: HookReply): SessionEvent[] {
  const { result } = reply;
  const marks = answerMarks(reply, {});
  const turn = state.turn?.turn ?? state.turns;
  if (result.status === 'deferred') return [];
  if (result.status === 'failed')
    return [
      ...marks,
      decided(SEAM, result.policy, 'failed', { reason: result.error.message }),
      ...contexts(turn, result.context ?? []),
    ];
  const { decision } = result;
  if (decision.decision !== 'none' && decision.decision !== 'allow') {
    const policy = 'policy' in decision ? decision.policy : 'unnamed';
    return [...marks, decided(SEAM, policy, 'failed', { reason: misplaced(SEAM, decision.decision) })];
  }
  const { context } = decision;
  const said = context.map(({ policy }) => decided(SEAM, policy, 'context'));
  const added = contexts(turn, context);
  return [...marks, ...(said.length > 0 ? said : [decided(SEAM, ALL_POLICIES, 'none')]), ...added];
}
