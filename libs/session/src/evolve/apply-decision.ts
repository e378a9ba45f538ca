import type { EventOf, RecordedEvent } from '@jetloop/contracts';
import type { SessionState, TurnState } from '../state.js';
import type { EventContext } from './event-context.js';
import { inCall, inTurn, openCalls, workStep } from './in-turn.js';
import { compactionWanted, withoutCompaction } from './apply-turn.js';

type Decided = RecordedEvent & EventOf<'policy.decided'>;

/** What a recorded decision changes. What an observing policy would have decided changes nothing. */
export function applyDecision(state: SessionState, event: Decided, { at }: EventContext): SessionState {
  const { seam, decision, observed } = event.data;
  if (observed) return state;
  switch (seam) {
    case 'session-start': {
      const { start: _answered, ...rest } = state;
      return rest;
    }
    case 'pre-step': {
      if (decision !== 'compact') return state;
      return inTurn(state, event, (turn) => ({
        ...compactionWanted(turn, 'policy', event.sequence, at),
        preStepped: workStep(turn),
      }));
    }
    case 'pre-compact':
      return inTurn(state, event, (turn) => withoutCompaction(turn, event.sequence));
    case 'pre-tool':
      return callDecided(state, event);
    case 'turn-continuation':
      return inTurn(state, event, (turn) => continuation(turn, decision));
    case 'prompt-submit':
    case 'post-tool':
      return state;
  }
}

function callDecided(state: SessionState, event: Decided): SessionState {
  const { callId, decision, policy, reason = '' } = event.data;
  const call = openCalls(state).find(
    (open) => open.callId === callId && !open.settled && (!open.decided || open.reevaluating),
  );
  if (!call) return state;
  if (decision === 'deny' || decision === 'failed') {
    return inCall(state, event, call.n, (open) => ({ ...open, denial: { policy, decision, reason } }));
  }
  if (decision !== 'allow' || !call.reevaluating) return state;
  return inCall(state, event, call.n, ({ reevaluating: _over, ...open }) => open);
}

/** Counts continuations that policies forced, one after another; one by itself begins the count anew. */
function continuation(turn: TurnState, decision: string): TurnState {
  if (turn.phase.at !== 'after-step') return turn;
  const decided =
    decision === 'continue' ? 'continue' : decision === 'none' || decision === 'failed' ? turn.phase.default : 'stop';
  const isForced = decided === 'continue' && turn.phase.default === 'stop';
  return { ...turn, forced: isForced ? turn.forced + 1 : 0, phase: { ...turn.phase, decided } };
}
