import { eventsProjection } from './events.projection.js';
import { messagesProjection } from './messages.projection.js';
import { modelAttemptsProjection } from './model-attempts.projection.js';
import { policyDecisionsProjection } from './policy-decisions.projection.js';
import type { Projection } from './projection.js';
import { sessionsProjection } from './sessions.projection.js';
import { toolCallsProjection } from './tool-calls.projection.js';
import { turnsProjection } from './turns.projection.js';

/** Changes when existing rows would come out otherwise: the tables must then be rebuilt. */
export const PROJECTION_VERSION = 1;

/** All tables that are derived from events. */
export const projections: readonly Projection[] = [
  eventsProjection,
  sessionsProjection,
  turnsProjection,
  messagesProjection,
  toolCallsProjection,
  modelAttemptsProjection,
  policyDecisionsProjection,
];
