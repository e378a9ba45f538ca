import type { RecordedEvent } from '@jetloop/contracts';
import { addUsed } from '../evolve/used.js';
import { inStep } from '../evolve/in-turn.js';
import type { SessionState } from '../state.js';
import { isHarnessEvent } from './harness-log.js';
import { emptyHarness, type HarnessState } from './harness-state.js';

/** The open step's harness; undefined: no external agent drives it. */
export function openHarness(state: SessionState): HarnessState | undefined {
  const phase = state.turn?.phase;
  return phase?.at === 'step' ? phase.step.harness : undefined;
}

/** What an event of a harness step changes; undefined: it means what it means in any step. */
export function applyHarness(state: SessionState, event: RecordedEvent): SessionState | undefined {
  const harness = openHarness(state);
  if (!harness) return undefined;
  if (event.type === 'approval.requested') {
    const { approvalId, expiresAt } = event.data;
    const open = new Map(harness.approvals).set(approvalId, { approvalId, expiresAt });
    const approvals = new Map(state.approvals).set(approvalId, { sequence: event.sequence });
    return withHarness({ ...state, approvals }, event, { ...harness, approvals: open });
  }
  if (event.type === 'approval.decided') {
    const { approvalId, outcome } = event.data;
    const open = new Map(harness.approvals);
    open.delete(approvalId);
    const approvals = new Map(state.approvals).set(approvalId, { outcome, sequence: event.sequence });
    return withHarness({ ...state, approvals }, event, { ...harness, approvals: open });
  }
  if (!isHarnessEvent(event)) return undefined;
  const next = harness.next + 1;
  switch (event.type) {
    case 'tool.call': {
      const { n, callId } = event.data;
      return withHarness(state, event, { ...harness, next, calls: new Map(harness.calls).set(n, { n, callId }) });
    }
    case 'tool.result': {
      const calls = new Map(harness.calls);
      calls.delete(event.data.n);
      return withHarness(state, event, { ...harness, next, calls });
    }
    case 'assistant.message': {
      const { content, cost, usage } = event.data;
      const kept = state.parent ? { lastAnswer: [...(state.lastAnswer ?? []), ...content] } : {};
      const used = addUsed(state.used, usage, cost);
      return withHarness({ ...state, used, ...kept }, event, { ...harness, next });
    }
    case 'user.message':
    case 'harness.raw':
      return withHarness(state, event, { ...harness, next });
  }
}

/** The next attempt begins with nothing of its own in the log, and the answer is none of what the last one said. */
export function beginAttempt(state: SessionState, event: RecordedEvent): SessionState {
  if (!openHarness(state)) return state;
  return withHarness(state.parent ? { ...state, lastAnswer: [] } : state, event, emptyHarness);
}

function withHarness(state: SessionState, event: RecordedEvent, harness: HarnessState): SessionState {
  return inStep(state, event, (step) => ({ ...step, harness }));
}
