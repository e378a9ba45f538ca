import { parseSessionSubject } from '@jetloop/contracts';
import { ApiError, DamagedSessionError, decodeCommit, type Bus } from '@jetloop/messaging';

/** A session as a list shows it. */
export interface SessionSummary {
  readonly session: string;
  readonly commits: number;
  /** Its last event; undefined where the last commit is damaged. */
  readonly last: LastEvent | undefined;
}

export interface LastEvent {
  /** One less than the number of events. */
  readonly sequence: number;
  readonly type: string;
  /** RFC 3339: when it was committed. */
  readonly at: string;
}

/** Reads that are on their way at the same time. */
const PARALLEL = 64;
const NO_MESSAGE = 10037;

/** The sessions of a tenant, the last active one first. One small read a session. */
export async function listSessions(bus: Bus, tenant: string): Promise<SessionSummary[]> {
  const counts = await commitsBySubject(bus, tenant);
  const summaries: SessionSummary[] = [];
  const rest = counts.entries();
  const worker = async () => {
    for (const [subject, commits] of rest) {
      const session = parseSessionSubject(subject)?.session;
      if (session !== undefined) summaries.push({ session, commits, last: await lastEvent(bus, subject) });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return summaries.sort(byLastActivity);
}

/** The server gives the subjects of a stream in pages. */
async function commitsBySubject(bus: Bus, tenant: string): Promise<Map<string, number>> {
  const all = new Map<string, number>();
  for (;;) {
    const request = { subjects_filter: `log.${tenant}.*`, offset: all.size };
    const { state, total = 0 } = await bus.api<{ state: { subjects?: Record<string, number> }; total?: number }>(
      'STREAM.INFO.JOURNAL',
      request,
    );
    const page = Object.entries(state.subjects ?? {});
    for (const [subject, commits] of page) all.set(subject, commits);
    if (page.length === 0 || all.size >= total) return all;
  }
}

async function lastEvent(bus: Bus, subject: string): Promise<LastEvent | undefined> {
  try {
    const { message } = await bus.api<{ message: { data: string } }>('STREAM.MSG.GET.JOURNAL', {
      last_by_subj: subject,
    });
    const { events, at } = decodeCommit(Buffer.from(message.data, 'base64'));
    const event = events.at(-1);
    return event && { sequence: event.sequence, type: event.type, at };
  } catch (error) {
    if (error instanceof DamagedSessionError) return undefined; // One damaged session hides no other: the list shows it without an end.
    if (error instanceof ApiError && error.code === NO_MESSAGE) return undefined; // Removed since the count.
    throw error;
  }
}

function byLastActivity(a: SessionSummary, b: SessionSummary): number {
  return (b.last?.at ?? '').localeCompare(a.last?.at ?? '') || a.session.localeCompare(b.session);
}
