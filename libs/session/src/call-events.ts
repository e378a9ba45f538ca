import type { EventOf } from '@jetloop/contracts';
import type { CallState, TurnState } from './state.js';

type Decided = EventOf<'tool.call'>;

/** The record of a call before anything runs. `effective` is what would run: the rewritten arguments, or the model's. */
export function toolCall(
  turn: TurnState,
  step: number,
  call: CallState,
  decision: Decided['data']['decision'],
  rewritten?: Decided['data']['effective'],
): Decided {
  const parsed = call.facts && call.parsed.ok ? call.parsed.value : null;
  return {
    type: 'tool.call',
    data: {
      turn: turn.turn,
      step,
      n: call.n,
      callId: call.callId,
      name: call.name,
      arguments: call.arguments,
      effective: rewritten ?? parsed,
      decision,
    },
  };
}

/** The result of a call that did not run, or whose worker is not waited for any more. */
export function settledWithError(
  turn: TurnState,
  step: number,
  call: CallState,
  error: { readonly name: string; readonly code: string; readonly text: string },
): EventOf<'tool.result'> {
  return {
    type: 'tool.result',
    data: {
      turn: turn.turn,
      step,
      n: call.n,
      callId: call.callId,
      content: [{ type: 'text', text: error.text }],
      isError: true,
      error: { name: error.name, code: error.code },
      durationMs: 0,
    },
  };
}
