import type { JetloopClient, SessionEntry } from '@jetloop/client';
import { SessionActivity } from './session-activity.js';

export interface FollowOptions {
  readonly tenant: string;
  /** Sequence of the first event that is wanted. */
  readonly from: number;
  /** End when no turn is open and none will begin by itself. */
  readonly untilIdle: boolean;
  readonly signal: AbortSignal;
  readonly onEntry: (entry: SessionEntry) => void;
}

/** Follows the events of a session until the signal aborts, the session is closed, or, where that is wanted, idle. */
export async function followSession(
  client: Pick<JetloopClient, 'events'>,
  session: string,
  { tenant, from, untilIdle, signal, onEntry }: FollowOptions,
): Promise<SessionActivity> {
  const activity = new SessionActivity(tenant, session);
  let next = 0;
  const see = (entry: SessionEntry) => {
    activity.see(entry);
    next = entry.event.sequence + 1;
    if (entry.event.sequence >= from) onEntry(entry);
  };
  const isOver = () => activity.isClosed || (untilIdle && activity.isIdle);
  // What is there is read to its end first: a session that was idle in between goes on.
  for await (const entry of client.events(session, { follow: false, signal })) see(entry);
  if (signal.aborted || isOver()) return activity;
  for await (const entry of client.events(session, { from: next, signal })) {
    see(entry);
    if (isOver()) break;
  }
  return activity;
}
