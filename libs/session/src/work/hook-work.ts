import type { HookCommand, SeamSubject, SettledResult } from '@jetloop/contracts';
import { chooseRange } from '../compaction/choose-range.js';
import { estimatedTokens } from '../evolve/conversation-size.js';
import { workStep } from '../evolve/in-turn.js';
import type { CallState, CompactionState, SessionState, StartState, StepState, TurnState } from '../state.js';
import type { AwaitedWork } from './work.js';
import { workCommon, type WorkPosition } from './work-common.js';

type HookWork = Extract<AwaitedWork, { kind: 'hook' }>;

/** Milliseconds that a hook may wait: what needs a policy waits while hook-policy is down, it neither fails nor passes. */
const HOOK_PATIENCE_MS = 7 * 24 * 3_600_000;

/** The questions at the seams, each as the command that asks it. */
export const hookWork = {
  sessionStart(state: SessionState, { source, sequence, at }: StartState): HookWork {
    const subject: SeamSubject = { seam: 'session-start', ...facts(state), source };
    return ask(state, { turn: state.turns, step: 0 }, `hook.session-start.${sequence}`, at, subject);
  },

  promptSubmit(state: SessionState, turn: TurnState, messageId: string): HookWork[] {
    const message = state.queue.find((queued) => queued.messageId === messageId);
    if (!message) return [];
    const { content, source } = message;
    const subject: SeamSubject = { seam: 'prompt-submit', ...facts(state), messageId, content: [...content], source };
    return [ask(state, here(turn), `hook.prompt-submit.${messageId}`, turn.startedAt, subject)];
  },

  preStep(state: SessionState, turn: TurnState): HookWork {
    const subject: SeamSubject = {
      seam: 'pre-step',
      ...facts(state),
      estimatedTokens: estimatedTokens(state.conversation),
    };
    return ask(state, here(turn), `hook.pre-step.${turn.disposed}`, turn.startedAt, subject);
  },

  preCompact(state: SessionState, turn: TurnState, { at, before }: CompactionState): HookWork[] {
    const range = chooseRange(state.conversation);
    if (!range) return [];
    const subject: SeamSubject = {
      seam: 'pre-compact',
      ...facts(state),
      ...range,
      estimatedTokens: estimatedTokens(state.conversation),
    };
    return [ask(state, here(turn), 'hook.pre-compact', at, subject, before)];
  },

  preTool(state: SessionState, turn: TurnState, step: StepState, call: CallState): HookWork[] {
    if (!call.facts || !call.parsed.ok) return [];
    const subject: SeamSubject = {
      seam: 'pre-tool',
      ...facts(state),
      n: call.n,
      callId: call.callId,
      name: call.name,
      arguments: call.parsed.value,
      tool: { readonly: call.facts.readonly, idempotent: call.facts.idempotent },
      callsBefore: turn.calls,
    };
    const since = call.approval?.decidedAt ?? step.at;
    return [ask(state, here(turn), `hook.pre-tool.${call.n}`, since, subject, call.asked)];
  },

  /** The result is in no event yet: it travels inside the question and comes back with the answer. */
  postTool(state: SessionState, turn: TurnState, step: StepState, call: CallState, result: SettledResult): HookWork {
    const subject: SeamSubject = {
      seam: 'post-tool',
      ...facts(state),
      n: call.n,
      callId: call.callId,
      name: call.name,
      arguments: call.decided?.effective ?? null,
      result,
    };
    return ask(state, here(turn), postToolWhat(call), call.decided?.at ?? step.at, subject);
  },

  continuation(state: SessionState, turn: TurnState): HookWork[] {
    if (turn.phase.at !== 'after-step') return [];
    const { default: byDefault, endedAt } = turn.phase;
    const subject: SeamSubject = {
      seam: 'turn-continuation',
      ...facts(state),
      default: byDefault,
      forced: turn.forced,
    };
    return [ask(state, { turn: turn.turn, step: turn.steps }, 'hook.turn-continuation', endedAt, subject)];
  },
} as const;

/** `what` of the question about a call's result. */
export function postToolWhat(call: CallState): string {
  return `hook.post-tool.${call.n}`;
}

function ask(
  state: SessionState,
  position: WorkPosition,
  what: string,
  since: string,
  subject: SeamSubject,
  asked = 0,
): HookWork {
  const command: HookCommand = { ...workCommon(state, position, what, since, HOOK_PATIENCE_MS, asked), subject };
  return { kind: 'hook', command };
}

function here(turn: TurnState): WorkPosition {
  return { turn: turn.turn, step: workStep(turn) };
}

function facts({ agent, workspace, mode }: SessionState) {
  return { agent: agent.name, workspace, ...(mode === undefined ? {} : { mode }) };
}
