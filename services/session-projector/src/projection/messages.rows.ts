import { isKnownEvent, textOf, type ContentBlock, type Source } from '@jetloop/contracts';
import type { WrittenRow } from '@jetloop/persistence';
import type { ProjectedEvent } from './projected-event.js';

type Row = WrittenRow<'messages'>;

/** The message that an event holds, if any. */
export function messageRow(projected: ProjectedEvent): Row | undefined {
  const { event } = projected;
  if (!isKnownEvent(event)) return undefined;
  switch (event.type) {
    case 'user.message':
      return row(projected, 'user', event.data);
    case 'context.message':
      return row(projected, 'context', event.data);
    case 'steering.message':
      return row(projected, 'steering', event.data);
    case 'prompt.blocked':
      return { ...row(projected, 'blocked', event.data), reason: event.data.reason };
    case 'assistant.message':
      return {
        ...row(projected, 'assistant', event.data),
        step: event.data.step,
        finish_reason: event.data.finishReason,
      };
    default:
      return undefined;
  }
}

interface Said {
  readonly turn: number;
  readonly messageId?: string | undefined;
  readonly content: readonly ContentBlock[];
  readonly source?: Source;
}

function row(projected: ProjectedEvent, role: Row['role'], said: Said): Row {
  return {
    tenant: projected.tenant,
    session_id: projected.session,
    seq: projected.event.sequence,
    turn: said.turn,
    step: null,
    role,
    time: projected.time,
    message_id: said.messageId ?? null,
    source_kind: said.source?.kind ?? null,
    source_name: said.source?.name ?? null,
    text: textOf(said.content),
    content: said.content,
    finish_reason: null,
    reason: null,
  };
}
