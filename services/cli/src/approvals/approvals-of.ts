import type { SessionEntry } from '@jetloop/client';
import { isKnownEvent, type EventData } from '@jetloop/contracts';

/** An approval as its session's log tells it. */
export interface Approval {
  readonly approvalId: string;
  /** Name of the tool that waits. */
  readonly tool: string | undefined;
  readonly question: string;
  /** RFC 3339. */
  readonly expiresAt: string;
  /** Undefined: it waits. */
  readonly decided: Pick<EventData<'approval.decided'>, 'outcome' | 'by' | 'note'> | undefined;
}

/** The approvals of a session, in the order in which they were asked for. */
export function approvalsOf(entries: readonly SessionEntry[]): Approval[] {
  const tools = new Map<string, string>();
  const approvals = new Map<string, Approval>();
  for (const { event } of entries) {
    if (!isKnownEvent(event)) continue;
    if (event.type === 'tool.call') tools.set(event.data.callId, event.data.name);
    if (event.type === 'approval.requested') {
      const { approvalId, callId, question, expiresAt } = event.data;
      approvals.set(approvalId, { approvalId, tool: tools.get(callId), question, expiresAt, decided: undefined });
    }
    if (event.type === 'approval.decided') {
      const { approvalId, outcome, by, note } = event.data;
      const asked = approvals.get(approvalId);
      const decided = { outcome, by, ...(note === undefined ? {} : { note }) };
      if (asked) approvals.set(approvalId, { ...asked, decided });
    }
  }
  return [...approvals.values()];
}
