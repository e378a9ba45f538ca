import { DamagedSessionError, type Bus } from '@jetloop/messaging';
import { commitsBySession } from './commits-by-session.js';
import { lastEvent, type LastEvent } from './last-event.js';

/** A session as a list shows it. */
export interface SessionSummary {
  readonly session: string;
  readonly commits: number;
  /** Its last event; undefined where the last commit is damaged. */
  readonly last: LastEvent | undefined;
}

/** Reads that are on their way at the same time. */
const PARALLEL = 64;

/** The sessions of a tenant, the last active one first. One small read a session. */
export async function listSessions(bus: Bus, tenant: string): Promise<SessionSummary[]> {
  const counts = await commitsBySession(bus, tenant);
  const summaries: SessionSummary[] = [];
  const rest = counts.entries();
  const worker = async () => {
    for (const [session, commits] of rest)
      summaries.push({ session, commits, last: await endOf(bus, tenant, session) });
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return summaries.sort(byLastActivity);
}

/** One damaged session hides no other: the list shows it without an end. */
async function endOf(bus: Bus, tenant: string, session: string): Promise<LastEvent | undefined> {
  try {
    return await lastEvent(bus, tenant, session);
  } catch (error) {
    if (error instanceof DamagedSessionError) return undefined;
    throw error;
  }
}

function byLastActivity(a: SessionSummary, b: SessionSummary): number {
  return (b.last?.at ?? '').localeCompare(a.last?.at ?? '') || a.session.localeCompare(b.session);
}
