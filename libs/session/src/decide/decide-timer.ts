import type { Timer } from '@jetloop/contracts';
import { openChildren } from '../children/child.js';
import { openCalls, workStep } from '../evolve/in-turn.js';
import { failureReply } from '../answers/failure-reply.js';
import type { DecisionContext } from '../next/decision-context.js';
import { endCutTurn } from '../next/cut-turn.js';
import { approvalDecided } from '../tools/approval.js';
import { toolResult } from '../tools/call-events.js';
import { errorResult } from '../tools/error-result.js';
import { openHarness } from '../harness/apply-harness.js';
import { awaitedWork } from '../work/awaited-work.js';
import { timers } from '../work/timers.js';
import type { SessionState, TurnState } from '../state.js';
import { decideReply } from './decide-reply.js';
import type { DirectDecision } from './direct-decision.js';
import { awaitedResult } from './settle-call.js';

/** A timer that nobody awaits does nothing: timers are never cancelled, their names hold what they are for. */
export function decideTimer(state: SessionState, timer: Timer, context: DecisionContext): DirectDecision {
  const { turn } = state;
  if (timer.name.startsWith('parked-') && timer.work !== undefined) return parked(state, timer.work, context);
  if (turn) {
    const decision = turn.cancelling
      ? timer.name === timers.cancel(turn.turn) && { events: endCutTurn(state, turn) }
      : turnTimer(state, turn, timer.name);
    if (decision) return decision;
  }
  const work = awaitedWork(state).find(
    ({ command }) => timers.deferral(command.turn, command.step, command.what, command.attempt) === timer.name,
  );
  return { kind: 'due', ...(work ? { commandId: work.command.commandId } : {}) };
}

function turnTimer(state: SessionState, turn: TurnState, name: string): DirectDecision | undefined {
  if (name === timers.deadline(turn.turn) && state.agent.deadlines.turn !== undefined) {
    const data = { turn: turn.turn, reason: 'deadline', by: 'timer' };
    return { events: [{ type: 'turn.cancelling', data }] };
  }
  const asked = openCalls(state).find(({ approval }) => approval && timers.approval(approval.approvalId) === name);
  if (asked?.approval && !asked.approval.outcome && !asked.settled)
    return { events: approvalDecided(asked, { outcome: 'expired', by: 'timer' }) };
  const permission = [...(openHarness(state)?.approvals.keys() ?? [])].find((id) => timers.approval(id) === name);
  if (permission !== undefined) {
    const data = { approvalId: permission, outcome: 'expired' as const, by: 'timer' };
    return { events: [{ type: 'approval.decided', data }] };
  }
  const lost = openChildren(state).find(({ call }) => timers.child(turn.turn, workStep(turn), call.n) === name);
  if (!lost) return undefined;
  const text =
    'The agent that was started did not end in time. It is not known what it did: do not start it again without a check.';
  const result = errorResult({ name: 'OutcomeUnknown', code: 'outcome_unknown', text });
  return { events: [toolResult(turn, workStep(turn), lost.call, result)] };
}

/** The answer to a piece of work was given up: the work ends as failed, so that nobody waits for ever. */
function parked(state: SessionState, workId: string, context: DecisionContext): DirectDecision {
  const message = 'the answer of the worker could not be taken in and was given up';
  const work = awaitedWork(state).find(({ command }) => command.commandId === workId);
  if (work) return decideReply(state, failureReply(work, 'dead_lettered', message), context);
  const result = awaitedResult(state, workId);
  if (!result || !state.turn) return { kind: 'due' };
  const failed = errorResult({ name: 'ToolFailed', code: 'dead_lettered', text: message });
  return { events: [toolResult(state.turn, workStep(state.turn), result, failed)] };
}
