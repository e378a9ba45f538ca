import { describe, expect, it } from '@jest/globals';
import type { Attempt } from '@jetloop/contracts';
import { ServiceMetrics } from '@jetloop/platform';
import { attemptReports } from './attempt-reports.js';

const where = { tenant: 't', session: 's', turn: 1, step: 2, purpose: 'step' as const };
const attempt: Attempt = {
  attemptId: 'w.1.0',
  target: 'a',
  why: 'primary',
  outcome: 'error',
  error: { code: 'rate_limited', message: 'words of the provider', retryable: true, status: 429, target: 'a' },
  firstTokenMs: 12.34,
  durationMs: 56.78,
};

describe('the report of an attempt', () => {
  it('is one line without the words of the provider, and a count and times by target', async () => {
    const lines: unknown[] = [];
    const metrics = new ServiceMetrics('test');
    const log = { info: (fields: unknown) => void lines.push(fields), warn: () => undefined };
    attemptReports(log, metrics)(attempt, where);
    expect(lines).toEqual([
      {
        ...where,
        attemptId: 'w.1.0',
        target: 'a',
        why: 'primary',
        outcome: 'error',
        code: 'rate_limited',
        status: 429,
        firstTokenMs: 12.3,
        durationMs: 56.8,
      },
    ]);
    const text = await metrics.registry.metrics();
    expect(text).toContain(
      'jetloop_model_attempts_total{target="a",outcome="error",code="rate_limited",service="test"} 1',
    );
    expect(text).toMatch(/jetloop_model_first_token_seconds_count\{[^}]*target="a"[^}]*\} 1/);
    expect(text).toMatch(/jetloop_model_attempt_duration_seconds_count\{[^}]*target="a"[^}]*\} 1/);
  });
});
