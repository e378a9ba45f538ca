import { isKnownEvent, type RecordedEvent, type Source, type TurnEnd } from '@jetloop/contracts';
import type { WrittenRow } from '@jetloop/persistence';
import type { Fold } from './fold.js';
import { addUsage, noUsage } from './usage.js';

/** One row a turn; without its `turn.start` there is none. */
export const turnsFold: Fold<'turns'> = {
  table: 'turns',
  key: ['tenant', 'session_id', 'turn'],
  keyOf: ({ tenant, session, event }) => {
    if (!isKnownEvent(event) || !isOfTurn(event)) return undefined;
    return { tenant, session_id: session, turn: event.data.turn };
  },
  apply: (row, { tenant, session, time, event }) => {
    if (!isKnownEvent(event)) return row;
    if (event.type === 'turn.start') {
      const { turn, trigger } = event.data;
      const begun = { turn, trigger: trigger.kind, trigger_source: sourceText(trigger.source), started_at: time };
      return {
        tenant,
        session_id: session,
        ...begun,
        ended_at: null,
        end_reason: null,
        end_detail: null,
        steps: 0,
        ...noUsage,
      };
    }
    return row && change(row, event, time);
  },
};

type TurnEvent = Extract<RecordedEvent, { type: 'turn.start' | 'turn.end' | 'step.start' | 'assistant.message' }>;

function isOfTurn(event: RecordedEvent): event is TurnEvent {
  const { type } = event;
  return type === 'turn.start' || type === 'turn.end' || type === 'step.start' || type === 'assistant.message';
}

function change(row: WrittenRow<'turns'>, event: RecordedEvent, time: string): WrittenRow<'turns'> {
  switch (event.type) {
    case 'step.start':
      return { ...row, steps: row.steps + 1 };
    case 'assistant.message':
      return addUsage(row, event.data);
    case 'turn.end':
      return { ...row, ended_at: time, end_reason: event.data.reason.kind, end_detail: endDetail(event.data.reason) };
    default:
      return row;
  }
}

function endDetail(reason: TurnEnd): string | null {
  switch (reason.kind) {
    case 'aborted':
    case 'rejected':
      return reason.reason;
    case 'error':
      return `${reason.code}: ${reason.message}`;
    default:
      return null;
  }
}

function sourceText({ kind, name }: Source): string {
  return name === undefined ? kind : `${kind}:${name}`;
}
