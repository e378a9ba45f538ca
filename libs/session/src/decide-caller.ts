import type { AgentSpec, CallerCommand, Outcome, OutcomeCode, SessionEvent, Source } from '@jetloop/contracts';
import type { DirectDecision } from './decide.js';
import { digestOf } from './digest.js';
import type { DecisionContext } from './next.js';
import type { SessionState } from './state.js';

type Create = Extract<CallerCommand, { kind: 'create' }>;
type Prompt = Extract<CallerCommand, { kind: 'prompt' }>;
type Cancel = Extract<CallerCommand, { kind: 'cancel' }>;

/** `create` after the shell looked up the agent and checked the workspace. */
export type ResolvedCreate = Omit<Create, 'agent' | 'workspace'> & {
  readonly agent: AgentSpec;
  readonly workspace: string;
};

/** The caller's command alone: which events it makes, or why it is refused. */
export function decideCaller(
  state: SessionState | undefined,
  command: ResolvedCreate | Exclude<CallerCommand, Create>,
  context: DecisionContext,
): DirectDecision {
  if (command.kind === 'create') return create(state, command);
  if (!state) return refused('not_found', 'There is no session of this id: create it first.');
  if (command.kind === 'cancel') return cancel(state, command, context);
  if (state.status === 'closed') return refused('closed', 'The session is closed: only a fork is accepted.');
  switch (command.kind) {
    case 'prompt':
      return prompt(state, command);
    case 'steer':
    case 'inject':
    case 'approval.decide':
    case 'resume':
    case 'close':
    case 'fork':
    case 'set-mode':
      return refused(
        'invalid',
        `The command ${command.kind} is not supported by this version: expected create, prompt or cancel.`,
      );
  }
}

function create(state: SessionState | undefined, command: ResolvedCreate): DirectDecision {
  if (state) {
    if (state.createdBy === command.commandId) return accepted(0);
    return refused('conflict', 'A session of this id exists already: choose another id, or prompt this one.');
  }
  const { agent, workspace, labels, parent } = command;
  const created: SessionEvent = {
    type: 'session.created',
    data: { agent, source: 'startup', workspace, ...(labels ? { labels } : {}), ...(parent ? { parent } : {}) },
  };
  const queued = command.prompt ? [queuedPrompt(command.prompt)] : [];
  return { events: [created, ...queued], outcome: { status: 'accepted', sequence: 0 } };
}

function prompt(state: SessionState, command: Prompt): DirectDecision {
  const known = state.messages.get(command.messageId);
  if (known) {
    if (known.digest === digestOf(command.content)) return accepted(known.sequence);
    return refused(
      'conflict',
      `The message id ${command.messageId} was used before with other content: a new message needs a new id.`,
    );
  }
  const { turn } = state;
  if (command.whenBusy === 'reject' && (turn !== undefined || state.queue.length > 0)) {
    return refused(
      'busy',
      'A turn is running: wait for its end, or send the prompt with whenBusy "queue" or "interrupt".',
    );
  }
  const outcome: Outcome = { status: 'accepted', sequence: state.nextSequence };
  if (command.whenBusy !== 'interrupt' || !turn || turn.cancelling) return { events: [queuedPrompt(command)], outcome };
  const cancelling: SessionEvent = {
    type: 'turn.cancelling',
    data: { turn: turn.turn, reason: 'interrupted by a new prompt', by: command.actor },
  };
  return { events: [queuedPrompt(command, turn.turn), cancelling], outcome };
}

/** Affects the turn and the queued messages that began at or before `asOf`; on an idle session it does nothing. */
function cancel(state: SessionState, command: Cancel, context: DecisionContext): DirectDecision {
  const asOf = Date.parse(command.asOf ?? context.now);
  const named = new Set(command.messageIds ?? []);
  const { turn } = state;
  const inTurn = new Set(turn?.phase.at === 'prompts' ? turn.phase.pending : []);
  const discarded = state.queue
    .filter((message) => !inTurn.has(message.messageId))
    .filter((message) => named.has(message.messageId) || Date.parse(message.at) <= asOf)
    .map((message): SessionEvent => ({
      type: 'message.discarded',
      data: { messageId: message.messageId, reason: 'cancelled' },
    }));
  const reachesTurn = turn !== undefined && !turn.cancelling && Date.parse(turn.startedAt) <= asOf;
  const cancelling: SessionEvent[] = reachesTurn
    ? [{ type: 'turn.cancelling', data: { turn: turn.turn, reason: command.reason, by: command.actor } }]
    : [];
  const events = [...discarded, ...cancelling];
  return events.length > 0 ? { events, outcome: { status: 'accepted', sequence: state.nextSequence } } : accepted(null);
}

function queuedPrompt(
  message: Pick<Prompt, 'messageId' | 'content' | 'source' | 'output'>,
  interrupts?: number,
): SessionEvent {
  const source: Source = message.source ?? { kind: 'user' };
  return {
    type: 'message.queued',
    data: {
      messageId: message.messageId,
      lane: 'turn',
      content: message.content,
      source,
      ...(interrupts === undefined ? {} : { interrupts }),
      ...(message.output ? { output: message.output } : {}),
    },
  };
}

function accepted(sequence: number | null): DirectDecision {
  return { kind: 'answered', outcome: { status: 'accepted', sequence } };
}

function refused(code: OutcomeCode, message: string): DirectDecision {
  return { kind: 'answered', outcome: { status: 'refused', code, message } };
}
