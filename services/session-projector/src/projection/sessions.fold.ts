import { isKnownEvent, type RecordedEvent } from '@jetloop/contracts';
import type { WrittenRow } from '@jetloop/persistence';
import type { Fold } from './fold.js';
import type { ProjectedEvent } from './projected-event.js';
import { addUsage, noUsage } from './usage.js';

type Row = WrittenRow<'sessions'>;

/** Where a session stands, after every event of it. */
export const sessionsFold: Fold<'sessions'> = {
  table: 'sessions',
  key: ['tenant', 'session_id'],
  keyOf: ({ tenant, session }) => ({ tenant, session_id: session }),
  apply: (row, projected) => {
    const { event, time } = projected;
    const before = row ?? newRow(projected);
    const after = isKnownEvent(event) ? change(before, event, time) : before;
    const isGap = event.sequence > before.last_seq + 1;
    const missing = before.missing_from ?? (isGap ? before.last_seq + 1 : null);
    return { ...after, last_event_at: time, last_seq: event.sequence, missing_from: missing };
  },
};

/** Agent and workspace come with `session.created`, which a damaged log may lack. */
function newRow({ tenant, session, time }: ProjectedEvent): Row {
  return {
    tenant,
    session_id: session,
    status: 'idle',
    waiting_for: null,
    waiting_since: null,
    agent: '',
    model: null,
    workspace: '',
    turns: 0,
    steps: 0,
    open_calls: 0,
    open_approvals: 0,
    ...noUsage,
    created_at: time,
    last_event_at: time,
    last_seq: -1,
    missing_from: null,
  };
}

function change(row: Row, event: RecordedEvent, time: string): Row {
  switch (event.type) {
    case 'session.created':
      return { ...row, agent: event.data.agent.name, workspace: event.data.workspace };
    case 'session.closed':
      return { ...atRest(row), status: 'closed' };
    case 'turn.start':
      return { ...atRest(row), status: 'running', turns: row.turns + 1 };
    case 'turn.end':
      return { ...atRest(row), status: row.status === 'closed' ? 'closed' : 'idle' };
    case 'step.start':
      return waiting({ ...row, steps: row.steps + 1 }, 'model', time);
    case 'assistant.message': {
      const model = event.data.model?.served ?? event.data.model?.model ?? row.model;
      return settled(addUsage({ ...row, model }, event.data), time);
    }
    case 'tool.call':
      return settled({ ...row, open_calls: row.open_calls + 1 }, time);
    case 'tool.result':
      return settled({ ...row, open_calls: Math.max(0, row.open_calls - 1) }, time);
    case 'approval.requested':
      return settled({ ...row, open_approvals: row.open_approvals + 1 }, time);
    case 'approval.decided':
      return settled({ ...row, open_approvals: Math.max(0, row.open_approvals - 1) }, time);
    case 'work.deferred':
      return waiting(row, 'deferred', time);
    default:
      return row;
  }
}

function atRest(row: Row): Row {
  return { ...row, open_calls: 0, open_approvals: 0, waiting_for: null, waiting_since: null };
}

/** What an open turn waits for, now that something was answered or asked: people before tools. */
function settled(row: Row, time: string): Row {
  return waiting(row, row.open_approvals > 0 ? 'approval' : row.open_calls > 0 ? 'tool' : null, time);
}

function waiting(row: Row, what: Row['waiting_for'], time: string): Row {
  if (row.status !== 'running' && row.status !== 'waiting') return row;
  return {
    ...row,
    status: what === 'approval' || what === 'deferred' ? 'waiting' : 'running',
    waiting_for: what,
    waiting_since: what === null ? null : what === row.waiting_for ? row.waiting_since : time,
  };
}
