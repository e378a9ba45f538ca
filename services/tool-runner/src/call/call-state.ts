import { isKnownEvent, type AgentSpec, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';

/** What the log says of a call before it runs. */
export type CallStanding = 'open' | 'cancelling' | 'settled';

interface Position {
  readonly turn: number;
  readonly step: number;
  readonly n: number;
}

/** Whether a call may still run: it is recorded, has no result, and its turn goes on. */
export function standingOf(
  events: readonly (RecordedEvent | UnknownEvent)[],
  { turn, step, n }: Position,
): CallStanding {
  let standing: CallStanding = 'settled';
  for (const event of events) {
    if (!isKnownEvent(event)) continue;
    const isThisCall = (data: Position) => data.turn === turn && data.step === step && data.n === n;
    if (event.type === 'tool.call' && isThisCall(event.data)) standing = 'open';
    else if (event.type === 'tool.result' && isThisCall(event.data)) return 'settled';
    else if (event.type === 'turn.cancelling' && event.data.turn === turn) standing = 'cancelling';
    else if (event.type === 'turn.end' && event.data.turn === turn) return 'settled';
  }
  return standing;
}

/** The agent that the session was created with. */
export function agentOf(events: readonly (RecordedEvent | UnknownEvent)[]): AgentSpec | undefined {
  const [first] = events;
  return first && isKnownEvent(first) && first.type === 'session.created' ? first.data.agent : undefined;
}
