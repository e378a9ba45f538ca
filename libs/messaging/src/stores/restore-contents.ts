import { isKnownEvent, type ContentBlock, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import type { ClaimCheck } from './claim-check.js';

type LogEvent = RecordedEvent | UnknownEvent;

/** The events with the contents that the log only refers to, as they were said: of those events that the model sees. */
export async function restoreContents(
  check: Pick<ClaimCheck, 'restore'>,
  { tenant, session }: { readonly tenant: string; readonly session: string },
  events: readonly LogEvent[],
): Promise<readonly LogEvent[]> {
  const isWanted = (event: LogEvent) => event.type !== 'prompt.blocked' && hasReference(event);
  if (!events.some(isWanted)) return events;
  const restore = (content: readonly ContentBlock[]) => check.restore(tenant, session, content);
  return Promise.all(events.map(async (event) => (isWanted(event) ? await restoreEvent(event, restore) : event)));
}

/** The event with its content as it was said; the same event where the log holds all of it. */
export async function restoreEvent(
  event: LogEvent,
  restore: (content: readonly ContentBlock[]) => Promise<ContentBlock[]>,
): Promise<LogEvent> {
  const content = contentOf(event);
  if (!content?.some(isReference)) return event;
  const data = Object.assign({}, event.data, { content: await restore(content) });
  return Object.assign({}, event, { data });
}

function hasReference(event: LogEvent): boolean {
  return contentOf(event)?.some(isReference) === true;
}

function isReference({ type }: ContentBlock): boolean {
  return type === 'blob';
}

function contentOf(event: LogEvent): readonly ContentBlock[] | undefined {
  if (!isKnownEvent(event)) return undefined;
  switch (event.type) {
    case 'user.message':
    case 'prompt.blocked':
    case 'context.message':
    case 'steering.message':
    case 'assistant.message':
    case 'tool.result':
      return event.data.content;
    default:
      return undefined;
  }
}
