import type { JetloopClient } from '@jetloop/client';
import { isKnownEvent, type ContentBlock, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';

type LogEvent = RecordedEvent | UnknownEvent;

/** The event with its content as it was said: the log refers to what is large. */
export async function restoreEvent(
  client: Pick<JetloopClient, 'restore'>,
  session: string,
  event: LogEvent,
): Promise<LogEvent> {
  const content = contentOf(event);
  if (!content?.some(({ type }) => type === 'blob')) return event;
  const data = Object.assign({}, event.data, { content: await client.restore(session, content) });
  return Object.assign({}, event, { data });
}

function contentOf(event: LogEvent): readonly ContentBlock[] | undefined {
  if (!isKnownEvent(event)) return undefined;
  switch (event.type) {
    case 'user.message':
    case 'prompt.blocked':
    case 'steering.message':
    case 'assistant.message':
    case 'tool.result':
      return event.data.content;
    default:
      return undefined;
  }
}
