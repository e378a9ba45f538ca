import { byteaText, writeRows, type WrittenRow } from '@jetloop/persistence';
import type { ProjectedEvent } from './projected-event.js';
import type { Projection } from './projection.js';

export const eventsProjection: Projection = (trx, events) => writeRows(trx, 'events', events.map(eventRow));

/** Events of unknown types too: what the log holds is here. */
export function eventRow(projected: ProjectedEvent): WrittenRow<'events'> {
  const { event } = projected;
  return {
    tenant: projected.tenant,
    session_id: projected.session,
    seq: event.sequence,
    type: event.type,
    version: event.version,
    time: projected.time,
    causation_id: projected.causation,
    correlation_id: event.correlationId ?? null,
    actor: projected.actor,
    data: event.data ?? null,
    raw: byteaText(projected.raw),
    stream_seq: projected.streamSequence,
    hash: byteaText(projected.hash),
    sanitized: projected.sanitized,
  };
}
