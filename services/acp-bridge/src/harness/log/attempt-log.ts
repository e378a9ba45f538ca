import { isKnownEvent, type AgentSpec, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import { agentOf, isHarnessEvent } from '@jetloop/session';
import { isObject } from '../translation/frame.js';

/** What the log says of one attempt at a harness turn. */
export interface AttemptLog {
  readonly agent: AgentSpec;
  readonly workspace: string;
  /** `over`: the step has its end, there is nothing to do any more. */
  readonly standing: 'open' | 'cancelling' | 'over';
  /** Worker events of this attempt that are in the log. */
  readonly next: number;
  /** Whether this attempt shook hands: its prompt may have been written. */
  readonly shookHands: boolean;
  /** The agent's session of an earlier attempt or turn. */
  readonly agentSession: string | undefined;
}

interface Where {
  readonly turn: number;
  readonly step: number;
}

/** Reads a session's log for one step; undefined: the step is not in it. */
export function readAttemptLog(
  events: readonly (RecordedEvent | UnknownEvent)[],
  { turn, step }: Where,
): AttemptLog | undefined {
  const [created] = events;
  const agent = agentOf(events);
  if (!agent || !created || !isKnownEvent(created) || created.type !== 'session.created') return undefined;
  let begun = false;
  let standing: AttemptLog['standing'] = 'open';
  let next = 0;
  let agentSession: string | undefined;
  for (const event of events) {
    if (!isKnownEvent(event)) continue;
    if (event.type === 'harness.raw') agentSession = sessionOf(event.data) ?? agentSession;
    if (event.type === 'step.start' && event.data.turn === turn && event.data.step === step) begun = true;
    if (!begun || standing === 'over') continue;
    if (event.type === 'work.deferred') next = 0;
    else if (isHarnessEvent(event)) next++;
    else if (event.type === 'turn.cancelling') standing = 'cancelling';
    else if (event.type === 'step.end') standing = 'over';
  }
  const workspace = created.data.workspace;
  return begun ? { agent, workspace, standing, next, shookHands: next > 0, agentSession } : undefined;
}

function sessionOf({ source, value }: { source: string; value: RawValue }): string | undefined {
  const result = source === 'session/new' && isObject(value) ? value['result'] : undefined;
  const id = isObject(result) ? result['sessionId'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

type RawValue = Extract<RecordedEvent, { type: 'harness.raw' }>['data']['value'];
