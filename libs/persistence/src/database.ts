import type { Kysely } from 'kysely';
import type { EventsTable } from './tables/events.table.js';
import type { MessagesTable } from './tables/messages.table.js';
import type { ModelAttemptsTable } from './tables/model-attempts.table.js';
import type { PolicyDecisionsTable } from './tables/policy-decisions.table.js';
import type { PositionTable } from './tables/position.table.js';
import type { QuarantineTable } from './tables/quarantine.table.js';
import type { SessionsTable } from './tables/sessions.table.js';
import type { ToolCallsTable } from './tables/tool-calls.table.js';
import type { TurnsTable } from './tables/turns.table.js';

/** The tables of schema `jetloop` as the newest migration leaves them (spec 7.1). What they mean stands in their SQL comments. */
export interface Database {
  events: EventsTable;
  sessions: SessionsTable;
  turns: TurnsTable;
  messages: MessagesTable;
  tool_calls: ToolCallsTable;
  model_attempts: ModelAttemptsTable;
  policy_decisions: PolicyDecisionsTable;
  quarantine: QuarantineTable;
  position: PositionTable;
}

/** A query builder over a pool, over one connection, or inside a transaction. */
export type DatabaseConnection = Kysely<Database>;
