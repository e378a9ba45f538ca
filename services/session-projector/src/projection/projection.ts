import type { DatabaseConnection } from '@jetloop/persistence';
import type { ProjectedEvent } from './projected-event.js';

/** Brings one table up to date with a batch of events, oldest first, each seen once. */
export type Projection = (trx: DatabaseConnection, events: readonly ProjectedEvent[]) => Promise<void>;
