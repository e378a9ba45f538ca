import type { ContentBlock, EventOf, RecordedEvent } from '@jetloop/contracts';
import { openChildren } from '../children/child.js';
import { parseArguments } from '../tools/parse-arguments.js';
import type { CallState, SessionState } from '../state.js';
import { BrokenLogError } from './broken-log.error.js';
import type { EventContext } from './event-context.js';
import { inCall, inStep, inTurn, openCalls } from './in-turn.js';
import { addUsed, usageOf } from './used.js';

type CallEvent = RecordedEvent &
  EventOf<'assistant.message' | 'tool.call' | 'tool.result' | 'approval.requested' | 'approval.decided'>;

/** The model's answer, and each of its calls from asked to settled. */
export function applyCall(state: SessionState, event: CallEvent, context: EventContext): SessionState {
  switch (event.type) {
    case 'assistant.message':
      return answered(state, event);
    case 'tool.call': {
      const { n, decision, effective, reserved } = event.data;
      const held = reserved ? { reserved } : {};
      const decided = { decision, effective, sequence: event.sequence, at: context.at, ...held };
      const next = inCall(state, event, n, (call) => ({ ...call, decided }));
      return inTurn(next, event, (turn) => ({ ...turn, calls: turn.calls + 1 }));
    }
    case 'tool.result': {
      const { n, child, error, context: contexts = [] } = event.data;
      const used = child ? addUsed(state.used, child.usage, child.cost) : state.used;
      const lost = error?.code === 'outcome_unknown' ? childOfCall(state, n) : undefined;
      const givenUp = lost && state.turn ? [...state.givenUp, { session: lost, turn: state.turn.turn }] : state.givenUp;
      const settled = { context: contexts };
      return inCall({ ...state, used, givenUp }, event, n, (call) => ({ ...call, settled }));
    }
    case 'approval.requested': {
      const { approvalId, callId, expiresAt, policyVersion } = event.data;
      const approvals = new Map(state.approvals).set(approvalId, { sequence: event.sequence });
      const version = policyVersion === undefined ? {} : { policyVersion };
      return inCall({ ...state, approvals }, event, waitsFor(state, callId)?.n, ({ reevaluating: _over, ...call }) => ({
        ...call,
        asked: call.asked + 1,
        approval: { approvalId, expiresAt, ...version },
      }));
    }
    case 'approval.decided': {
      const { approvalId, outcome, by, note, reevaluate } = event.data;
      const approvals = new Map(state.approvals).set(approvalId, { outcome, sequence: event.sequence });
      const call = openCalls(state).find(({ approval }) => approval?.approvalId === approvalId);
      if (!call?.approval) throw new BrokenLogError(event, `no open call waits for approval ${approvalId}`);
      const said = note === undefined ? {} : { note };
      const approval = { ...call.approval, outcome, by, ...said, decidedAt: context.at };
      const again = reevaluate ? { reevaluating: true } : {};
      return inCall({ ...state, approvals }, event, call.n, (waiting) => ({ ...waiting, approval, ...again }));
    }
  }
}

/** The child session that call `n` of the open step started. */
function childOfCall(state: SessionState, n: number): string | undefined {
  return openChildren(state).find(({ call }) => call.n === n)?.session;
}

/** The recorded call of this id that no question is open about. */
function waitsFor(state: SessionState, callId: string): CallState | undefined {
  return openCalls(state).find(
    (call) =>
      call.callId === callId &&
      call.decided &&
      !call.settled &&
      (!call.approval || call.approval.outcome !== undefined),
  );
}

function answered(state: SessionState, event: RecordedEvent & EventOf<'assistant.message'>): SessionState {
  const { content, finishReason, usage, cost, attempts } = event.data;
  const blocks: readonly ContentBlock[] = content;
  const calls = blocks
    .flatMap((block) => (block.type === 'tool-call' ? [block] : []))
    .map((block, n): CallState => {
      const facts = state.tools?.byName.get(block.name);
      return {
        n,
        callId: block.id,
        name: block.name,
        arguments: block.arguments,
        parsed: parseArguments(block.arguments),
        ...(facts ? { facts } : {}),
        asked: 0,
      };
    });
  const used = addUsed(state.used, usageOf(attempts, usage), cost);
  const kept = state.parent ? { lastAnswer: blocks } : {};
  const next = inStep({ ...state, used, ...kept }, event, (step) => ({ ...step, answer: { finishReason, calls } }));
  return inTurn(next, event, (turn) => ({
    ...turn,
    sawMaxTokens: turn.sawMaxTokens || finishReason === 'max-tokens',
    sawRefusal: turn.sawRefusal || finishReason === 'content-filter',
  }));
}
