import { parseSessionSubject } from '@jetloop/contracts';
import type { Bus } from '@jetloop/messaging';

/** How many commits each session of a tenant has. The server gives the subjects of a stream in pages. */
export async function commitsBySession(bus: Bus, tenant: string): Promise<Map<string, number>> {
  const all = new Map<string, number>();
  for (let seen = 0; ;) {
    const request = { subjects_filter: `log.${tenant}.*`, offset: seen };
    const { state, total = 0 } = await bus.api<{ state: { subjects?: Record<string, number> }; total?: number }>(
      'STREAM.INFO.JOURNAL',
      request,
    );
    const page = Object.entries(state.subjects ?? {});
    seen += page.length;
    for (const [subject, commits] of page) {
      const session = parseSessionSubject(subject)?.session;
      if (session !== undefined) all.set(session, commits);
    }
    if (page.length === 0 || seen >= total) return all;
  }
}
