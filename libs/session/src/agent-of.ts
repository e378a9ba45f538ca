import { isKnownEvent, type AgentSpec, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';

/** The agent that a session was created with; undefined where the log does not begin with `session.created`. */
export function agentOf(events: readonly (RecordedEvent | UnknownEvent)[]): AgentSpec | undefined {
  const [first] = events;
  return first && isKnownEvent(first) && first.type === 'session.created' ? first.data.agent : undefined;
}
