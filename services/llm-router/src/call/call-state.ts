import { isKnownEvent, type AgentSpec, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';

type Events = readonly (RecordedEvent | UnknownEvent)[];

/** What the log says of a model call before it is made. */
export type CallStanding = 'open' | 'cancelling' | 'settled';

/** Whether the step still waits for its answer. */
export function standingOf(
  events: Events,
  { turn, step }: { readonly turn: number; readonly step: number },
): CallStanding {
  let standing: CallStanding = 'open';
  for (const event of events) {
    if (!isKnownEvent(event)) continue;
    if (event.type === 'assistant.message' && event.data.turn === turn && event.data.step === step) return 'settled';
    if (event.type === 'turn.end' && event.data.turn === turn) return 'settled';
    if (event.type === 'turn.cancelling' && event.data.turn === turn) standing = 'cancelling';
  }
  return standing;
}

/** The agent that the session was created with. */
export function agentOf(events: Events): AgentSpec | undefined {
  const [first] = events;
  return first && isKnownEvent(first) && first.type === 'session.created' ? first.data.agent : undefined;
}
