import { describe, expect, it } from '@jest/globals';
import { ServiceMetrics } from '@jetloop/platform';
import { exposeLag } from './expose-lag.js';

describe('exposeLag', () => {
  it('tells how far each projection is behind when it is asked, and leaves out what cannot be asked', async () => {
    const metrics = new ServiceMetrics('session-projector');
    let sql: () => Promise<number> = () => Promise.resolve(7);
    const journal = { behind: (position: number) => Promise.resolve({ commits: 10 - position, seconds: 0.5 }) };
    exposeLag(metrics, journal, { sql: () => sql(), events: () => Promise.resolve(10) });
    const lines = async () =>
      (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('jetloop_projection'));
    expect(await lines()).toEqual([
      expect.stringMatching(/^jetloop_projection_lag_commits\{projection="sql",.*\} 3$/),
      expect.stringMatching(/^jetloop_projection_lag_commits\{projection="events",.*\} 0$/),
      expect.stringMatching(/^jetloop_projection_lag_seconds\{projection="sql",.*\} 0.5$/),
      expect.stringMatching(/^jetloop_projection_lag_seconds\{projection="events",.*\} 0.5$/),
    ]);
    sql = () => Promise.reject(new Error('away'));
    expect((await lines()).filter((line) => line.includes('"sql"'))).toEqual([]);
    expect(await lines()).toHaveLength(2);
  });
});
