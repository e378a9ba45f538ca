import type { Database } from '@jetloop/persistence';
import type { Transaction } from 'kysely';
import type { ProjectedEvent } from './projected-event.js';

/** Brings one table up to date with a batch of events, oldest first, each seen once. */
export type Projection = (trx: Transaction<Database>, events: readonly ProjectedEvent[]) => Promise<void>;
