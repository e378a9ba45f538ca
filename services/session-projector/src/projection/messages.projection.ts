import { writeRows } from '@jetloop/persistence';
import { messageRow } from './messages.rows.js';
import type { Projection } from './projection.js';

export const messagesProjection: Projection = (trx, events) =>
  writeRows(
    trx,
    'messages',
    events.map(messageRow).filter((row) => row !== undefined),
  );
