import { writeRows } from '@jetloop/persistence';
import { policyDecisionRow } from './policy-decisions.rows.js';
import type { Projection } from './projection.js';

export const policyDecisionsProjection: Projection = (trx, events) =>
  writeRows(
    trx,
    'policy_decisions',
    events.map(policyDecisionRow).filter((row) => row !== undefined),
  );
