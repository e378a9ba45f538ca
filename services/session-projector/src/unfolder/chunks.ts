import type { PublicEvent } from '@jetloop/messaging';

const MOST_EVENTS = 1_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** Cuts events into pieces that may be in flight together: at most 1,000 events and, from the second event on, 4 MiB. */
export function* chunks(events: Iterable<PublicEvent>): Generator<PublicEvent[]> {
  let chunk: PublicEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    const isFull = chunk.length === MOST_EVENTS || bytes + event.body.length > MOST_BYTES;
    if (isFull && chunk.length > 0) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(event);
    bytes += event.body.length;
  }
  if (chunk.length > 0) yield chunk;
}
