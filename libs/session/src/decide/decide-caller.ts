import type { AgentSpec, CallerCommand, DerivedMessage, Seam, SessionEvent } from '@jetloop/contracts';
import type { DecisionContext } from '../next/decision-context.js';
import { openHarness } from '../harness/apply-harness.js';
import type { SessionState } from '../state.js';
import { accept, queued } from './accept-message.js';
import { cancel } from './cancel.js';
import { decideApproval } from './decide-approval.js';
import type { DirectDecision } from './direct-decision.js';
import { accepted, refused } from './outcomes.js';

type Create = Extract<CallerCommand, { kind: 'create' }>;
type Fork = Extract<CallerCommand, { kind: 'fork' }>;
type Prompt = Extract<CallerCommand, { kind: 'prompt' }>;

/** `create` after the shell looked up the agent and checked the workspace. */
export type ResolvedCreate = Omit<Create, 'agent' | 'workspace'> & {
  readonly agent: AgentSpec;
  readonly workspace: string;
};

/** `fork` after the shell read the session that it begins with. */
export type ResolvedFork = Fork & {
  readonly agent: AgentSpec;
  readonly workspace: string;
  readonly history: readonly DerivedMessage[];
};

/** The caller's command alone: which events it makes, or why it is refused. */
export function decideCaller(
  state: SessionState | undefined,
  command: ResolvedCreate | ResolvedFork | Exclude<CallerCommand, Create | Fork>,
  { seams, policyVersion }: DecisionContext,
): DirectDecision {
  if (command.kind === 'create' || command.kind === 'fork') return create(state, command, seams);
  if (!state) return refused('not_found', 'There is no session of this id: create it first.');
  const isClosed = state.status === 'closed' || state.turn?.cancelling?.closes !== undefined;
  if (isClosed && !isKnown(state, command)) return refused('closed', 'The session is closed: only a fork is accepted.');
  switch (command.kind) {
    case 'cancel':
      return cancel(state, command);
    case 'prompt':
      return prompt(state, command);
    case 'steer':
      if (openHarness(state) && !isKnown(state, command)) return notSupported('steer');
      return accept(state, command, state.turn && !state.turn.cancelling ? 'step' : 'turn');
    case 'inject':
      if (openHarness(state) && !isKnown(state, command)) return notSupported('inject');
      return accept(state, command, 'inject');
    case 'close':
      return close(state, command);
    case 'approval.decide':
      return decideApproval(state, command, policyVersion);
    case 'resume':
      return changed(state, { type: 'session.resumed', data: { by: command.actor, ...startAsked(seams) } });
    case 'set-mode':
      return setMode(state, command);
  }
}

function create(
  state: SessionState | undefined,
  command: ResolvedCreate | ResolvedFork,
  seams: ReadonlySet<Seam>,
): DirectDecision {
  if (state) {
    if (state.createdBy === command.commandId) return accepted(0);
    return refused('conflict', 'A session of this id exists already: choose another id, or prompt this one.');
  }
  const { agent, workspace } = command;
  const origin =
    command.kind === 'fork'
      ? { source: 'fork' as const, parent: command.from, history: [...command.history] }
      : {
          source: 'startup' as const,
          ...(command.parent ? { parent: command.parent } : {}),
          ...(command.labels ? { labels: command.labels } : {}),
        };
  const created: SessionEvent = {
    type: 'session.created',
    data: { agent, workspace, ...origin, ...startAsked(seams) },
  };
  const first = command.kind === 'create' && command.prompt ? [queued(command.prompt, 'turn')] : [];
  return { events: [created, ...first], outcome: { status: 'accepted', sequence: 0 } };
}

/** Whether policies are asked before the next turn is the event's to say: nothing else in the log would tell. */
function startAsked(seams: ReadonlySet<Seam>) {
  return seams.has('session-start') ? { asks: 'session-start' as const } : {};
}

function prompt(state: SessionState, command: Prompt): DirectDecision {
  const { turn } = state;
  const isNew = !state.messages.has(command.messageId);
  if (isNew && command.whenBusy === 'reject' && turn !== undefined) {
    return refused(
      'busy',
      'A turn is running: wait for its end, or send the prompt with whenBusy "queue" or "interrupt".',
    );
  }
  const interrupts = command.whenBusy === 'interrupt' && turn && !turn.cancelling ? turn.turn : undefined;
  const decision = accept(state, command, 'turn', interrupts);
  if (interrupts === undefined || !('events' in decision)) return decision;
  const data = { turn: interrupts, reason: 'interrupted by a new prompt', by: command.actor };
  return { ...decision, events: [...decision.events, { type: 'turn.cancelling', data }] };
}

function setMode(state: SessionState, { mode, actor }: Extract<CallerCommand, { kind: 'set-mode' }>): DirectDecision {
  const { modes } = state.agent;
  if (!modes.some(({ id }) => id === mode)) {
    const known = modes.map(({ id }) => id).join(', ') || 'none';
    return refused(
      'invalid',
      `The agent ${state.agent.name} has no mode ${mode}: expected one of its modes (${known}).`,
    );
  }
  return state.mode === mode ? accepted(null) : changed(state, { type: 'session.mode', data: { mode, by: actor } });
}

/** A message that was accepted before the session closed keeps its answer. */
function isKnown(state: SessionState, command: Exclude<CallerCommand, Create | Fork>): boolean {
  return 'messageId' in command && state.messages.has(command.messageId);
}

/** One commit that begins with `turn.cancelling` when a turn is open, and bars further acceptance. */
function close(state: SessionState, { reason, actor }: Extract<CallerCommand, { kind: 'close' }>): DirectDecision {
  const { turn } = state;
  const inTurn = new Set(turn?.phase.at === 'prompts' ? turn.phase.pending : []);
  const discarded = state.queue
    .filter(({ messageId }) => !inTurn.has(messageId))
    .map(({ messageId }): SessionEvent => ({ type: 'message.discarded', data: { messageId, reason: 'closed' } }));
  if (!turn) return changed(state, ...discarded, { type: 'session.closed', data: { reason } });
  const data = { turn: turn.turn, reason: 'closed', by: actor, closes: reason };
  return changed(state, { type: 'turn.cancelling', data }, ...discarded);
}

/** The protocol of external agents has no frame for it: refused, rather than accepted and never heard (spec 6.4). */
function notSupported(command: 'steer' | 'inject'): DirectDecision {
  const message = `CapabilityNotSupported {primitive: inject_message}: an external agent runs this turn, which takes no ${command}. Cancel it, or wait for its end.`;
  return refused('invalid', message);
}

function changed(state: SessionState, ...events: SessionEvent[]): DirectDecision {
  return { events, outcome: { status: 'accepted', sequence: state.nextSequence } };
}
