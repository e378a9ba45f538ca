import { isKnownEvent, type RecordedEvent } from '@jetloop/contracts';
import type { SessionFold } from '@jetloop/messaging';

/** What the log says of a call before it runs. */
export type CallStanding = 'open' | 'cancelling' | 'settled';

interface Position {
  readonly turn: number;
  readonly step: number;
  readonly n: number;
}

/** As much of a session's log as a tool call needs to know. */
export interface CallLog {
  /** Names of the agent's tools; empty before the session is created. */
  tools: readonly string[];
  /** Calls that are recorded and have no result. */
  readonly open: Set<string>;
  /** The turn that a cancel reached. */
  cancelling: number | undefined;
  /** The last turn that ended. */
  ended: number;
}

export const callLogFold: SessionFold<CallLog> = {
  initial: () => ({ tools: [], open: new Set(), cancelling: undefined, ended: 0 }),
  apply: (log, event) => {
    if (isKnownEvent(event)) apply(log, event);
  },
};

/** Whether a call may still run: it is recorded, has no result, and its turn goes on. */
export function standingOf(log: CallLog, position: Position): CallStanding {
  if (!log.open.has(keyOf(position))) return 'settled';
  return log.cancelling === position.turn ? 'cancelling' : 'open';
}

/** Whether the turn is being cancelled, or has ended. */
export function isTurnOver(log: CallLog, turn: number): boolean {
  return log.cancelling === turn || log.ended >= turn;
}

function apply(log: CallLog, { type, data }: RecordedEvent): void {
  if (type === 'session.created') log.tools = data.agent.tools;
  if (type === 'tool.call') log.open.add(keyOf(data));
  if (type === 'tool.result') log.open.delete(keyOf(data));
  if (type === 'turn.cancelling') log.cancelling = data.turn;
  if (type === 'turn.end') {
    log.open.clear();
    log.ended = data.turn;
  }
}

function keyOf({ turn, step, n }: Position): string {
  return `${turn}.${step}.${n}`;
}
