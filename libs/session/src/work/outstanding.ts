import { openChildren, type Child } from '../children/child.js';
import { endChild } from '../children/end-child.js';
import { childReport } from '../children/child-report.js';
import { openCalls, workStep } from '../evolve/in-turn.js';
import type { SessionState, TurnState } from '../state.js';
import { cancelDueAt, harnessTimers } from '../harness/harness-work.js';
import { awaitedWork } from './awaited-work.js';
import { plus, timers } from './timers.js';
import type { AwaitedWork, Work } from './work.js';
import { lastDeferral } from './work-common.js';

/** Milliseconds that a cancelled turn waits for its workers to answer (spec 2.5). */
export const CANCEL_GRACE_MS = 2_000;

/** Timers and commands that the state calls for at `now` (RFC 3339). Never a denied call, nor one that waits for approval. */
export function outstanding(state: SessionState, now: string): Work[] {
  const { turn } = state;
  const report = childReport(state);
  return [
    ...(turn?.cancelling ? cancelled(state, turn, turn.cancelling.at) : running(state, now)),
    ...(turn && !turn.cancelling ? waiting(state, turn) : []),
    ...state.givenUp.map(({ session }) => endChild(session, actorOf(state))),
    ...(report ? [{ kind: 'report' as const, ...report }] : []),
  ];
}

/** Commands to workers, each now or, where the worker asked for that, later. */
function running(state: SessionState, now: string): Work[] {
  return awaitedWork(state).map((work) => whenDue(state, work, now));
}

function whenDue(state: SessionState, work: AwaitedWork, now: string): Work {
  const { what, attempt, turn, step } = work.command;
  const deferral = lastDeferral(state, work.command, what);
  if (!deferral || deferral.until <= now) return work;
  return { kind: 'timer', name: timers.deferral(turn, step, what, attempt), dueAt: deferral.until };
}

function cancelled(state: SessionState, turn: TurnState, at: string): Work[] {
  const start = awaitedWork(state).filter(({ command }) => command.what.startsWith('hook.session-start'));
  return [
    ...start,
    { kind: 'abort', turn: turn.turn },
    { kind: 'timer', name: timers.cancel(turn.turn), dueAt: cancelDueAt(turn, at, CANCEL_GRACE_MS) },
    ...openChildren(state).map(({ session }) => endChild(session, actorOf(state))),
  ];
}

/** Timers of the open turn, and its children. */
function waiting(state: SessionState, turn: TurnState): Work[] {
  const limit = state.agent.deadlines.turn;
  const approvals = openCalls(state).flatMap(({ approval, settled }): Work[] =>
    approval?.outcome === undefined && approval && !settled
      ? [{ kind: 'timer', name: timers.approval(approval.approvalId), dueAt: approval.expiresAt }]
      : [],
  );
  return [
    ...(limit === undefined
      ? []
      : [{ kind: 'timer' as const, name: timers.deadline(turn.turn), dueAt: plus(turn.startedAt, limit) }]),
    ...approvals,
    ...(turn.phase.at === 'step' ? harnessTimers(turn.phase.step) : []),
    ...openChildren(state).flatMap((child) => started(state, turn, child)),
  ];
}

function started(state: SessionState, turn: TurnState, child: Child): Work[] {
  const { session, agent, prompt, call, since, patienceMs } = child;
  const source = { kind: 'agent' as const, name: state.agent.name };
  return [
    {
      kind: 'child',
      session,
      command: {
        kind: 'create',
        commandId: `spawn-${session}`.slice(0, 64),
        actor: actorOf(state),
        agent: { name: agent },
        workspace: state.workspace,
        parent: { session: state.session, callId: call.callId },
        prompt: { messageId: 'task', content: [{ type: 'text', text: prompt }], source },
      },
    },
    {
      kind: 'timer',
      name: timers.child(turn.turn, workStep(turn), call.n),
      dueAt: plus(since, patienceMs),
    },
  ];
}

/** Who a session is towards its children. */
function actorOf({ agent }: SessionState): string {
  return `agent ${agent.name}`;
}
