import type { HarnessEvent, SessionEvent } from '@jetloop/contracts';

/**
 * Whether an event of a harness step came from the bridge. Counted since the step or the last deferral of its work, these
 * give the worker sequence that comes next: the bridge and the orchestrator read it out of the same log.
 */
export function isHarnessEvent(event: SessionEvent): event is HarnessEvent {
  switch (event.type) {
    case 'assistant.message':
    case 'tool.call':
    case 'tool.result':
    case 'harness.raw':
      return true;
    case 'user.message':
      return event.data.source.kind === 'harness';
    default:
      return false;
  }
}

/** The source of the frame in which an external agent asks for permission. */
export const PERMISSION_ASK = 'session/request_permission';

/** The approval of a permission request, named by the worker sequence of its frame: both sides know it without a word. */
export function harnessApprovalId(turn: number, step: number, attempt: number, sequence: number): string {
  return `${turn}-${step}-acp-${attempt}-${sequence}`;
}
