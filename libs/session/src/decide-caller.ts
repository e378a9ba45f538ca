import type { AgentSpec, CallerCommand, Outcome, OutcomeCode, SessionEvent } from '@jetloop/contracts';
import type { DirectDecision } from './direct-decision.js';
import { approvalDecided } from './approval.js';
import { digestOf } from './digest.js';
import { openCalls } from './evolve.js';
import type { SessionState } from './state.js';

type Create = Extract<CallerCommand, { kind: 'create' }>;
type Prompt = Extract<CallerCommand, { kind: 'prompt' }>;
/** What a message is accepted from. */
type Message = Pick<Prompt, 'messageId' | 'content' | 'source'> & { readonly output?: Prompt['output'] };
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
): DirectDecision {
  if (command.kind === 'create') return create(state, command);
  if (!state) return refused('not_found', 'There is no session of this id: create it first.');
  const isClosed = state.status === 'closed' || state.turn?.cancelling?.closes !== undefined;
  if (isClosed && !isKnown(state, command)) return refused('closed', 'The session is closed: only a fork is accepted.');
  switch (command.kind) {
    case 'cancel':
      return cancel(state, command);
    case 'prompt':
      return prompt(state, command);
    case 'steer':
      return accept(state, command, state.turn && !state.turn.cancelling ? 'step' : 'turn');
    case 'inject':
      return accept(state, command, 'inject');
    case 'close':
      return close(state, command);
    case 'approval.decide':
      return decideApproval(state, command);
    case 'resume':
    case 'fork':
    case 'set-mode':
      return refused('invalid', `The command ${command.kind} is not supported by this version.`);
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
  const first = command.prompt ? [queued(command.prompt, 'turn')] : [];
  return { events: [created, ...first], outcome: { status: 'accepted', sequence: 0 } };
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

/** Durable acceptance of a message, once: the same id with the same content gets the same answer. */
function accept(
  state: SessionState,
  message: Message,
  lane: 'turn' | 'step' | 'inject',
  interrupts?: number,
): DirectDecision {
  const known = state.messages.get(message.messageId);
  if (!known) {
    const outcome: Outcome = { status: 'accepted', sequence: state.nextSequence };
    return { events: [queued(message, lane, interrupts)], outcome };
  }
  if (known.digest === digestOf(message.content)) return accepted(known.sequence);
  return refused(
    'conflict',
    `The message id ${message.messageId} was used before with other content: a new message needs a new id.`,
  );
}

/** A message that was accepted before the session closed keeps its answer. */
function isKnown(state: SessionState, command: Exclude<CallerCommand, Create>): boolean {
  return 'messageId' in command && state.messages.has(command.messageId);
}

/** One commit that begins with `turn.cancelling` when a turn is open, and bars further acceptance. */
function close(state: SessionState, { reason, actor }: Extract<CallerCommand, { kind: 'close' }>): DirectDecision {
  const { turn } = state;
  const outcome: Outcome = { status: 'accepted', sequence: state.nextSequence };
  const inTurn = new Set(turn?.phase.at === 'prompts' ? turn.phase.pending : []);
  const discarded = state.queue
    .filter(({ messageId }) => !inTurn.has(messageId))
    .map(({ messageId }): SessionEvent => ({ type: 'message.discarded', data: { messageId, reason: 'closed' } }));
  if (!turn) return { events: [...discarded, { type: 'session.closed', data: { reason } }], outcome };
  const data = { turn: turn.turn, reason: 'closed', by: actor, closes: reason };
  return { events: [{ type: 'turn.cancelling', data }, ...discarded], outcome };
}

/** Exactly one outcome stands; deciding alike again is harmless, otherwise it came too late. */
function decideApproval(
  state: SessionState,
  command: Extract<CallerCommand, { kind: 'approval.decide' }>,
): DirectDecision {
  const { approvalId, outcome, note, actor } = command;
  const known = state.approvals.get(approvalId);
  if (!known) return refused('not_found', `There is no approval ${approvalId} in this session.`);
  if (known.outcome === outcome) return accepted(known.sequence);
  if (known.outcome) return refused('stale', `The approval ${approvalId} was decided before: ${known.outcome}.`);
  const call = openCalls(state).find(({ approval }) => approval?.approvalId === approvalId);
  if (!state.turn || !call || state.turn.cancelling)
    return refused('stale', `The turn of approval ${approvalId} is over.`);
  const verdict = { outcome, by: actor, ...(note === undefined ? {} : { note }) };
  return {
    events: approvalDecided(state.turn, call, verdict),
    outcome: { status: 'accepted', sequence: state.nextSequence },
  };
}

/** Affects the turn and the queued messages that began at or before `asOf` (all of them without one); on an idle session it does nothing. */
function cancel(state: SessionState, command: Cancel): DirectDecision {
  const asOf = command.asOf === undefined ? Infinity : Date.parse(command.asOf);
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

function queued(message: Message, lane: 'turn' | 'step' | 'inject', interrupts?: number): SessionEvent {
  const { messageId, content, output } = message;
  const source = message.source ?? { kind: lane === 'inject' ? ('caller' as const) : ('user' as const) };
  return {
    type: 'message.queued',
    data: {
      messageId,
      lane,
      content,
      source,
      ...(interrupts === undefined ? {} : { interrupts }),
      ...(output ? { output } : {}),
    },
  };
}

function accepted(sequence: number | null): DirectDecision {
  return { kind: 'answered', outcome: { status: 'accepted', sequence } };
}

function refused(code: OutcomeCode, message: string): DirectDecision {
  return { kind: 'answered', outcome: { status: 'refused', code, message } };
}
