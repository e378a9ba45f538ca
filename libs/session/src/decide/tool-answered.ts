import type { ToolReply } from '@jetloop/contracts';
import { failure } from '../answers/failure.js';
import type { DecisionContext } from '../next/decision-context.js';
import { joining } from '../next/joining.js';
import { errorResult } from '../tools/error-result.js';
import type { AwaitedWork } from '../work/work.js';
import type { SessionState, TurnState } from '../state.js';
import { callOf } from './call-of.js';
import type { DirectDecision } from './direct-decision.js';
import { settleCall } from './settle-call.js';

/** A list of tools, or what a call came to. */
export function toolAnswered(
  state: SessionState,
  turn: TurnState,
  work: AwaitedWork,
  { result }: ToolReply,
  context: DecisionContext,
): DirectDecision {
  const { step } = work.command;
  const call = callOf(turn, work);
  switch (result.status) {
    case 'deferred':
      return { events: [] };
    case 'listed': {
      const { digest, tools, unavailable } = result;
      // The step begins at once only where nothing else has to happen before it; else the list leaves its mark.
      const isReady = state.tools?.digest === digest && joining(state).length === 0 && !context.seams.has('pre-step');
      if (isReady) return { events: [{ type: 'step.start', data: { turn: turn.turn, step } }] };
      const missing = unavailable.length > 0 ? { unavailable } : {};
      return { events: [{ type: 'tools.listed', data: { digest, tools, ...missing } }] };
    }
    case 'failed': {
      const { code, message } = result.error;
      if (!call) return { events: [failure(turn, step, code, message)] };
      return settleCall(state, turn, call, errorResult({ name: 'ToolFailed', code, text: message }), context);
    }
    case 'result': {
      if (!call) return { events: [failure(turn, step, 'protocol', 'The tool runner answered a list with a result.')] };
      const { status: _status, ...data } = result;
      return settleCall(state, turn, call, data, context);
    }
  }
}
