import { isKnownEvent, type Attempt, type LlmCommand, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import type { CallState } from './call-state.js';

type Events = readonly (RecordedEvent | UnknownEvent)[];
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** What the log says of the model call of a compaction: it stands until the `compaction.start` before it is answered. */
export function compactionState(
  events: Events,
  { turn, what, attempt, upTo }: Pick<LlmCommand, 'turn' | 'what' | 'attempt' | 'upTo'>,
): CallState {
  const start = startOf(events, upTo)?.sequence ?? -1;
  let standing: CallState['standing'] = 'open';
  const earlier: Attempt[] = [];
  for (const event of events.slice(start + 1).filter(isKnownEvent)) {
    if (event.type === 'work.deferred' && event.data.what === what) {
      if (event.data.attempt >= attempt) return { standing: 'settled', earlier };
      earlier.push(...event.data.attempts);
    }
    if (!('turn' in event.data) || event.data.turn !== turn) continue;
    if (event.type === 'compaction.summary' || event.type === 'compaction.end' || event.type === 'turn.end') {
      return { standing: 'settled', earlier };
    }
    if (event.type === 'turn.cancelling') standing = 'cancelling';
  }
  return { standing, earlier };
}

/** Which events are to be summed up; undefined: no compaction had begun. */
export function compactionRange(events: Events, upTo: number): Range | undefined {
  return startOf(events, upTo)?.data.range;
}

function startOf(events: Events, upTo: number) {
  return events
    .slice(0, upTo + 1)
    .filter(isKnownEvent)
    .findLast((event) => event.type === 'compaction.start');
}
