import type { Deferral, SessionState } from '../state.js';
import { plus } from './timers.js';

/** Where work belongs: its turn (0 before the first) and step (0 outside a step). */
export interface WorkPosition {
  readonly turn: number;
  readonly step: number;
}

/** What every work command carries. `since`: RFC 3339; `asked`: commands sent before for reasons other than a deferral. */
export function workCommon(
  state: SessionState,
  { turn, step }: WorkPosition,
  what: string,
  since: string,
  patienceMs: number,
  asked = 0,
) {
  const { tenant, session } = state;
  const deferral = lastDeferral(state, { turn, step }, what);
  const attempt = (deferral?.attempt ?? 0) + 1 + (deferral ? 0 : asked);
  // A person may have thought for long since it was deferred.
  const from = deferral && deferral.until > since ? deferral.until : since;
  return {
    commandId: workId(state, { turn, step }, what, attempt),
    tenant,
    session,
    turn,
    step,
    what,
    attempt,
    upTo: state.nextSequence - 1,
    since: from,
    deadline: plus(from, patienceMs),
  };
}

/** The id of a work command (spec 1.3). */
export function workId(
  { tenant, session }: Pick<SessionState, 'tenant' | 'session'>,
  { turn, step }: WorkPosition,
  what: string,
  attempt: number,
): string {
  return `${tenant}.${session}.${turn}.${step}.${what}.${attempt}`;
}

/** The last time that a worker asked to be called again for this. */
export function lastDeferral(state: SessionState, { turn, step }: WorkPosition, what: string): Deferral | undefined {
  return state.deferrals.findLast(
    (deferral) => deferral.what === what && deferral.turn === turn && deferral.step === step,
  );
}
