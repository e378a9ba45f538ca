import type { JournalFollower } from '@jetloop/messaging';
import type { ServiceMetrics } from '@jetloop/platform';

type Positions = Readonly<Record<'sql' | 'events', () => Promise<number>>>;

/** How far each projection is behind the journal, in the metrics: the same on every replica. */
export function exposeLag(
  metrics: Pick<ServiceMetrics, 'ask'>,
  journal: Pick<JournalFollower, 'behind'>,
  positions: Positions,
): void {
  const parts = (unit: 'commits' | 'seconds') => {
    const of = (projection: keyof Positions) => async () => (await journal.behind(await positions[projection]()))[unit];
    return { sql: of('sql'), events: of('events') };
  };
  metrics.ask(
    'jetloop_projection_lag_commits',
    'Commits of the journal that a projection does not hold yet.',
    'projection',
    parts('commits'),
  );
  metrics.ask(
    'jetloop_projection_lag_seconds',
    'Seconds since the first of these commits was stored; 0 when there is none.',
    'projection',
    parts('seconds'),
  );
}
