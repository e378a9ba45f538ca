import type { LlmReply, SessionEvent } from '@jetloop/contracts';
import { failure } from '../answers/failure.js';
import { summaryAnswered } from '../answers/compact-answered.js';
import type { DecisionContext } from '../next/decision-context.js';
import { endCutTurn } from '../next/cut-turn.js';
import type { AwaitedWork } from '../work/work.js';
import type { SessionState, TurnState } from '../state.js';

/** The model's answer becomes one message of the step; a context that overflowed is compacted once, then asked again. */
export function modelAnswered(
  state: SessionState,
  turn: TurnState,
  work: AwaitedWork,
  reply: LlmReply,
  { now }: DecisionContext,
): SessionEvent[] {
  const { result } = reply;
  const { step, what, attempt } = work.command;
  if (what === 'compact') return summaryAnswered(turn, reply);
  if (result.status === 'deferred') return [];
  const earlier = state.deferrals.filter(
    (deferral) => deferral.what === 'llm' && deferral.turn === turn.turn && deferral.step === step,
  );
  const attempts = [...earlier.flatMap((deferral) => deferral.attempts), ...result.attempts];
  const common = { turn: turn.turn, step, cost: result.cost, attempts };
  if (result.status === 'ok') {
    const { content, finishReason, rawFinishReason, model, usage } = result;
    const raw = rawFinishReason === undefined ? {} : { rawFinishReason };
    return [{ type: 'assistant.message', data: { ...common, content, finishReason, ...raw, model, usage } }];
  }
  const { error, content = [], model = null, usage = null } = result;
  if (turn.cancelling) {
    if (content.length === 0 && !usage) return endCutTurn(state, turn);
    const partial = { ...common, content, finishReason: 'aborted' as const, model, usage };
    return [{ type: 'assistant.message', data: partial }];
  }
  if (error.code === 'context_overflow' && !earlier.some(({ reason }) => reason === 'context_overflow')) {
    const overflow = { what, attempt, until: now, reason: 'context_overflow', attempts: result.attempts };
    return [{ type: 'work.deferred', data: overflow }];
  }
  return [failure(turn, step, error.code, error.message, attempts)];
}
