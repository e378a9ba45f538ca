import type { HarnessFinished, SessionEvent, TurnEnd } from '@jetloop/contracts';
import { turnEnd } from '../next/end-of-turn.js';
import type { SessionState, TurnState } from '../state.js';
import type { HarnessState } from './harness-state.js';

/** Characters of an agent's last words that an error tells. */
const LAST_WORDS = 300;

/** What its end makes of an attempt of a turn that nobody cancelled: the turn's end, or another attempt. `at`: RFC 3339. */
export function attemptEnded(
  state: SessionState,
  turn: TurnState,
  harness: HarnessState,
  reply: HarnessFinished,
  at: string,
): SessionEvent[] {
  const step = turn.steps;
  const { outcome, error, attempt } = reply;
  if (outcome !== 'error') {
    const end: SessionEvent = { type: 'step.end', data: { turn: turn.turn, step } };
    return [...cutAttempt(turn, step, harness), end, turnEnd(turn, reasonOf(outcome))];
  }
  const { name, code, message } = error ?? { name: 'Protocol', code: 'unknown', message: 'The attempt failed.' };
  if (name === 'Transport' && attempt < (state.agent.harness?.maxAttempts ?? 1)) {
    const data = { what: 'acp', attempt, until: at, reason: code, attempts: [] };
    return [...cutAttempt(turn, step, harness), { type: 'work.deferred', data }];
  }
  const words = reply.stderr.trim().slice(-LAST_WORDS);
  const text = words === '' ? message : `${message} Its last words: ${words}`;
  return [{ type: 'turn.error', data: { turn: turn.turn, step, error: { name, code, message: text } } }];
}

/** Open calls of an attempt that is over get their result, and open permissions their decision. */
export function cutAttempt(turn: TurnState, step: number, { calls, approvals }: HarnessState): SessionEvent[] {
  const decided = [...approvals.keys()].map((approvalId): SessionEvent => ({
    type: 'approval.decided',
    data: { approvalId, outcome: 'cancelled', by: 'loop-orchestrator' },
  }));
  const text = 'This call was interrupted: the agent ended before it told what came of it.';
  const results = [...calls.values()].map(({ n, callId }): SessionEvent => ({
    type: 'tool.result',
    data: {
      turn: turn.turn,
      step,
      n,
      callId,
      content: [{ type: 'text', text }],
      isError: true,
      error: { name: 'Interrupted', code: 'interrupted' },
      durationMs: 0,
    },
  }));
  return [...decided, ...results];
}

function reasonOf(outcome: Exclude<HarnessFinished['outcome'], 'error'>): TurnEnd {
  if (outcome !== 'aborted') return { kind: outcome };
  return { kind: 'aborted', reason: 'the agent cancelled the turn itself' };
}
