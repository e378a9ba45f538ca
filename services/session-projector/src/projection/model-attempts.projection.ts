import { writeRows } from '@jetloop/persistence';
import { modelAttemptRows } from './model-attempts.rows.js';
import type { Projection } from './projection.js';

/** An attempt that is reported again (deferred work, then the answer) is one row: the last report counts. */
export const modelAttemptsProjection: Projection = (trx, events) => {
  const rows = events.flatMap(modelAttemptRows);
  const byId = new Map(rows.map((row) => [JSON.stringify([row.tenant, row.session_id, row.attempt_id]), row]));
  return writeRows(trx, 'model_attempts', [...byId.values()], { replaceBy: ['tenant', 'session_id', 'attempt_id'] });
};
