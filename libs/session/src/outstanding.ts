import type { AcpCommand, AgentSpec, HookCommand, LlmCommand, SeamSubject, ToolCommand } from '@jetloop/contracts';
import { currentGroup } from './groups.js';
import { digestOf } from './digest.js';
import { openCalls, workStep } from './evolve.js';
import { joining } from './joining.js';
import type { CallState, SessionState, StepState, TurnState } from './state.js';
import { wantsToolList } from './tool-list.js';

/** Milliseconds that a hook may wait: what needs a policy waits while hook-policy is down, it neither fails nor passes. */
const HOOK_PATIENCE_MS = 7 * 24 * 3_600_000;
/** Milliseconds that a cancelled turn waits for its workers to answer (spec 2.5). */
export const CANCEL_GRACE_MS = 2_000;

export type AwaitedWork =
  | { readonly kind: 'llm'; readonly command: LlmCommand }
  | { readonly kind: 'tool'; readonly command: ToolCommand }
  | { readonly kind: 'hook'; readonly command: HookCommand }
  | { readonly kind: 'acp'; readonly command: AcpCommand };

/** What must have been sent for the session to go on. */
export type Work =
  | AwaitedWork
  | { readonly kind: 'timer'; readonly name: string; readonly dueAt: string }
  | { readonly kind: 'abort'; readonly turn: number };

/** A name that tells one piece of work from every other: the work id, or what a timer or an abort is for. */
export function workKey(work: Work): string {
  switch (work.kind) {
    case 'timer':
      return `timer:${work.name}`;
    case 'abort':
      return `abort:${work.turn}`;
    case 'llm':
    case 'tool':
    case 'hook':
    case 'acp':
      return work.command.commandId;
  }
}

/** Timers and commands that the state calls for at `now` (RFC 3339). Never a denied call, nor one that waits for approval. */
export function outstanding(state: SessionState, now: string): Work[] {
  const { turn } = state;
  if (!turn) return [];
  if (turn.cancelling) {
    const dueAt = plus(turn.cancelling.at, CANCEL_GRACE_MS);
    return [
      { kind: 'abort', turn: turn.turn },
      { kind: 'timer', name: `cancel-${turn.turn}`, dueAt },
    ];
  }
  const approvals = openCalls(state).flatMap(({ approval, settled }): Work[] =>
    approval?.outcome === undefined && approval && !settled
      ? [{ kind: 'timer', name: approvalTimer(approval.approvalId), dueAt: approval.expiresAt }]
      : [],
  );
  const work = awaitedWork(state).map((work): Work => {
    const deferral = lastDeferral(turn, work.command.what);
    if (!deferral || deferral.until <= now) return work;
    return { kind: 'timer', name: deferralTimer(turn, work.command.what, work.command.attempt), dueAt: deferral.until };
  });
  return [...work, ...approvals];
}

/** Name of the timer that ends an approval. */
export function approvalTimer(approvalId: string): string {
  return `approval-${approvalId}`;
}

/** Name of the timer that ends a deferral. */
export function deferralTimer(turn: TurnState, what: string, attempt: number): string {
  return timerName(`deferred-${turn.turn}-${workStep(turn)}-${what.replaceAll('.', '_')}-${attempt}`);
}

/** A name is a subject token: a long one is hashed. */
function timerName(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 16)}-${digestOf(name).slice(0, 40)}`;
}

/** Work whose reply counts: a reply to anything else is late. */
export function awaitedWork(state: SessionState): AwaitedWork[] {
  const { turn } = state;
  if (!turn) return [];
  switch (turn.phase.at) {
    case 'prompts':
      return turn.phase.pending.slice(0, 1).flatMap((messageId) => promptHook(state, turn, messageId));
    case 'between-steps':
    case 'after-step':
      return [...(wantsToolList(state, turn) ? [toolList(state, turn)] : []), ...joiningHook(state, turn)];
    case 'step':
      return stepWork(state, turn, turn.phase.step);
  }
}

/** A cancelled turn waits for what may have had an effect or used tokens; the rest is not waited for. */
export function delaysCancel(work: AwaitedWork): boolean {
  return work.kind === 'llm' || (work.kind === 'tool' && work.command.op === 'call');
}

function stepWork(state: SessionState, turn: TurnState, step: StepState): AwaitedWork[] {
  if (!step.answer) return [llmCall(state, turn, step)];
  const group = currentGroup(step.answer.calls);
  if (!group) return joiningHook(state, turn);
  const undecided = group.find((call) => call.decided === undefined);
  if (undecided) return preToolHook(state, turn, step, undecided);
  return group.flatMap((call) => runningCall(state, turn, step, call));
}

function llmCall(state: SessionState, turn: TurnState, step: StepState): AwaitedWork {
  return {
    kind: 'llm',
    command: {
      ...common(state, turn, 'llm', step.at, state.agent.deadlines.llm),
      upTo: step.sequence,
      purpose: 'step',
      ...(state.tools ? { toolsDigest: state.tools.digest } : {}),
      ...(turn.output ? { output: turn.output } : {}),
    },
  };
}

function toolList(state: SessionState, turn: TurnState): AwaitedWork {
  const { agent } = state;
  return {
    kind: 'tool',
    command: {
      ...common(state, turn, 'list', turn.startedAt, agent.deadlines.tool),
      op: 'list',
      tools: agent.tools,
      readonly: agent.readonly,
      servers: agent.mcpServers,
    },
  };
}

/** Allowed by the policies, or by a person whom they asked. */
function mayRun({ decided, approval }: CallState): boolean {
  return decided?.decision === 'allow' || approval?.outcome === 'approved';
}

function runningCall(state: SessionState, turn: TurnState, step: StepState, call: CallState): AwaitedWork[] {
  const { decided, approval } = call;
  if (call.settled || !mayRun(call) || !decided?.effective) return [];
  const { agent } = state;
  return [
    {
      kind: 'tool',
      command: {
        ...common(state, turn, `tool.${call.n}`, approval?.decidedAt ?? decided.at, agent.deadlines.tool),
        upTo: decided.sequence,
        op: 'call',
        n: call.n,
        callId: call.callId,
        effectId: `${state.tenant}.${state.session}.${turn.turn}.${step.step}.${call.n}`,
        name: call.name,
        effective: decided.effective,
        workspace: state.workspace,
        readonly: agent.readonly,
        sandbox: agent.sandbox,
        servers: agent.mcpServers,
      },
    },
  ];
}

/** Steering and injections pass the seam of prompts when they join, one after another. */
function joiningHook(state: SessionState, turn: TurnState): AwaitedWork[] {
  return joining(state)
    .slice(0, 1)
    .flatMap(({ messageId }) => promptHook(state, turn, messageId));
}

function promptHook(state: SessionState, turn: TurnState, messageId: string): AwaitedWork[] {
  const message = state.queue.find((queued) => queued.messageId === messageId);
  if (!message) return [];
  const subject: SeamSubject = {
    seam: 'prompt-submit',
    ...sessionFacts(state),
    messageId,
    content: [...message.content],
    source: message.source,
  };
  return [hook(state, turn, `hook.prompt-submit.${messageId}`, turn.startedAt, subject)];
}

function preToolHook(state: SessionState, turn: TurnState, step: StepState, call: CallState): AwaitedWork[] {
  if (!call.facts || !call.parsed.ok) return [];
  const subject: SeamSubject = {
    seam: 'pre-tool',
    ...sessionFacts(state),
    n: call.n,
    callId: call.callId,
    name: call.name,
    arguments: call.parsed.value,
    tool: { readonly: call.facts.readonly, idempotent: call.facts.idempotent },
    callsBefore: turn.calls,
  };
  return [hook(state, turn, `hook.pre-tool.${call.n}`, step.at, subject)];
}

function hook(state: SessionState, turn: TurnState, what: string, since: string, subject: SeamSubject): AwaitedWork {
  return { kind: 'hook', command: { ...common(state, turn, what, since, HOOK_PATIENCE_MS), subject } };
}

function sessionFacts(state: SessionState): { agent: AgentSpec['name']; workspace: string } {
  return { agent: state.agent.name, workspace: state.workspace };
}

function common(state: SessionState, turn: TurnState, what: string, since: string, patienceMs: number) {
  const step = workStep(turn);
  const deferral = lastDeferral(turn, what);
  const attempt = (deferral?.attempt ?? 0) + 1;
  const { tenant, session } = state;
  const from = deferral?.until ?? since;
  return {
    commandId: `${tenant}.${session}.${turn.turn}.${step}.${what}.${attempt}`,
    tenant,
    session,
    turn: turn.turn,
    step,
    what,
    attempt,
    upTo: state.nextSequence - 1,
    since: from,
    deadline: plus(from, patienceMs),
  };
}

function lastDeferral(turn: TurnState, what: string) {
  const step = workStep(turn);
  return turn.deferrals.findLast((deferral) => deferral.what === what && deferral.step === step);
}

function plus(at: string, milliseconds: number): string {
  return new Date(Date.parse(at) + milliseconds).toISOString();
}
