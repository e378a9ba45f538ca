import { EVENT_VERSION, type CallerCommand, type Commit, type Outcome, type RecordedEvent } from '@jetloop/contracts';
import type { Reply, SessionEvent, Timer } from '@jetloop/contracts';
import type { EventContext } from '../evolve/event-context.js';
import { evolve } from '../evolve/evolve.js';
import type { DecisionContext } from '../next/decision-context.js';
import { nextEvents } from '../next/next-events.js';
import type { SessionState } from '../state.js';
import { decideCaller, type ResolvedCreate, type ResolvedFork } from './decide-caller.js';
import { decideReply } from './decide-reply.js';
import { decideTimer } from './decide-timer.js';
import type { DirectDecision, UncommittedDecision } from './direct-decision.js';

/** What comes to a session. `create` and `fork` carry what the shell resolved. */
export type SessionCommand =
  | { readonly from: 'caller'; readonly command: Exclude<CallerCommand, { kind: 'create' | 'fork' }> }
  | { readonly from: 'caller'; readonly command: ResolvedCreate | ResolvedFork }
  | { readonly from: 'worker'; readonly commandId: string; readonly reply: Reply }
  | { readonly from: 'timer'; readonly commandId: string; readonly timer: Timer };

/** Who and what a commit names: the envelope of the command. */
export interface CommandEnvelope {
  readonly tenant: string;
  readonly session: string;
  readonly actor: string;
  readonly traceparent?: string;
}

/** What was decided: a commit, or something that needs none. */
export type Decision =
  { readonly kind: 'commit'; readonly commit: Commit; readonly outcome?: Outcome } | UncommittedDecision;

/** The id of a command, which its commit names as causation. */
export function commandIdOf(command: SessionCommand): string {
  return command.from === 'caller' ? command.command.commandId : command.commandId;
}

/**
 * Decides a command: one commit with all events up to the point where the session waits for something outside, or none.
 * Pure: time and the seams that have policies are inputs.
 */
export function decide(
  state: SessionState | undefined,
  command: SessionCommand,
  envelope: CommandEnvelope,
  context: DecisionContext,
): Decision {
  const direct = directDecision(state, command, context);
  if (!('events' in direct)) return direct;
  const causation = commandIdOf(command);
  const at: EventContext = { tenant: envelope.tenant, session: envelope.session, causation, at: context.now };
  const recorded: RecordedEvent[] = [];
  let current = state;
  const append = (events: readonly SessionEvent[]) => {
    for (const event of events) {
      const next = record(current, event);
      current = evolve(current, next, at);
      recorded.push(next);
    }
  };
  append(direct.events);
  for (
    let more = current ? nextEvents(current, context) : [];
    more.length > 0 && current;
    more = nextEvents(current, context)
  ) {
    append(more);
  }
  const commit: Commit = {
    tenant: envelope.tenant,
    session: envelope.session,
    causation,
    actor: envelope.actor,
    at: context.now,
    ...(envelope.traceparent === undefined ? {} : { traceparent: envelope.traceparent }),
    events: recorded,
  };
  return { kind: 'commit', commit, ...(direct.outcome ? { outcome: direct.outcome } : {}) };
}

function directDecision(
  state: SessionState | undefined,
  command: SessionCommand,
  context: DecisionContext,
): DirectDecision {
  switch (command.from) {
    case 'caller':
      return decideCaller(state, command.command, context);
    case 'worker':
      return state ? decideReply(state, command.reply, context) : { kind: 'late' };
    case 'timer':
      return state ? decideTimer(state, command.timer, context) : { kind: 'due' };
  }
}

function record(state: SessionState | undefined, event: SessionEvent): RecordedEvent {
  const turn = event.type === 'turn.start' ? event.data.turn : state?.turn?.turn;
  return {
    sequence: state?.nextSequence ?? 0,
    version: EVENT_VERSION,
    ...(turn === undefined ? {} : { correlationId: String(turn) }),
    ...event,
  };
}
