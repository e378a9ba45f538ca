import type { EventOf, SettledResult } from '@jetloop/contracts';
import type { CallState, TurnState } from '../state.js';

type Decided = EventOf<'tool.call'>['data'];

/** The record of a call before anything runs. `effective` is what would run: the rewritten arguments, or the model's. */
export function toolCall(
  turn: TurnState,
  step: number,
  call: CallState,
  decision: Decided['decision'],
  { rewritten, reserved }: { rewritten?: Decided['effective'] | undefined; reserved?: Decided['reserved'] } = {},
): EventOf<'tool.call'> {
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
      ...(reserved ? { reserved } : {}),
    },
  };
}

/** The one result of a call. */
export function toolResult(
  turn: TurnState,
  step: number,
  call: CallState,
  result: SettledResult,
  context: EventOf<'tool.result'>['data']['context'] = [],
): EventOf<'tool.result'> {
  return {
    type: 'tool.result',
    data: {
      turn: turn.turn,
      step,
      n: call.n,
      callId: call.callId,
      ...result,
      ...(context.length > 0 ? { context } : {}),
    },
  };
}
