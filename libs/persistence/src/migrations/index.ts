import type { Migration } from 'kysely/migration';
import * as audit from './2026-11-30-audit.js';
import * as roomForUpdates from './2026-11-30-room-for-updates.js';
import * as missingEvents from './2026-11-30-sessions-missing-events.js';

/** All migrations by name, which begins with its date. Forward only; one that was released is never changed. */
export const migrations: Record<string, Migration> = {
  '2026-11-30-audit': audit,
  '2026-11-30-room-for-updates': roomForUpdates,
  '2026-11-30-sessions-missing-events': missingEvents,
};
