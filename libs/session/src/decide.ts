import type { CallerCommand, Commit, Outcome, Reply, SessionEvent, Timer } from '@jetloop/contracts';
import { EVENT_VERSION, type RecordedEvent } from '@jetloop/contracts';
import { decideCaller, type ResolvedCreate } from './decide-caller.js';
import { decideReply } from './decide-reply.js';
import { approvalDecided } from './approval.js';
import { failureReply } from './failure-reply.js';
import type { DirectDecision } from './direct-decision.js';
import { evolve, openCalls, type EventContext } from './evolve.js';
import { endCutTurn, nextEvents, type DecisionContext } from './next.js';
import { approvalTimer, awaitedWork, deferralTimer } from './outstanding.js';
import type { SessionState } from './state.js';

/** What comes to a session. `create` carries the agent spec and workspace that the shell resolved. */
export type SessionCommand =
  | { readonly from: 'caller'; readonly command: Exclude<CallerCommand, { kind: 'create' }> }
  | { readonly from: 'caller'; readonly command: ResolvedCreate }
  | { readonly from: 'worker'; readonly commandId: string; readonly reply: Reply }
  | { readonly from: 'timer'; readonly commandId: string; readonly timer: Timer };

/** Who and what a commit names: the envelope of the command. */
export interface CommandEnvelope {
  readonly tenant: string;
  readonly session: string;
  readonly actor: string;
  readonly traceparent?: string;
}

/** What was decided. `late`: a reply that nobody awaits; `due`: a timer, and the work
 * (if any) whose time has come by it. */
export type Decision =
  | { readonly kind: 'commit'; readonly commit: Commit; readonly outcome?: Outcome }
  | { readonly kind: 'answered'; readonly outcome: Outcome }
  | { readonly kind: 'late' }
  | { readonly kind: 'due'; readonly commandId?: string };

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
      return decideCaller(state, command.command);
    case 'worker':
      return state ? decideReply(state, command.reply, context) : { kind: 'late' };
    case 'timer':
      return state ? decideTimer(state, command.timer, context) : { kind: 'due' };
  }
}

/** A timer that nobody awaits does nothing: timers are never cancelled, their names hold what they are for. */
function decideTimer(state: SessionState, timer: Timer, context: DecisionContext): DirectDecision {
  const { turn } = state;
  if (turn?.cancelling && timer.name === `cancel-${turn.turn}`) return { events: endCutTurn(state, turn) };
  const parked =
    timer.name.startsWith('parked-') && awaitedWork(state).find(({ command }) => command.commandId === timer.work);
  if (parked) {
    const message = 'the answer of the worker could not be taken in and was given up';
    return decideReply(state, failureReply(parked, 'dead_lettered', message), context);
  }
  const asked = openCalls(state).find(({ approval }) => approval && approvalTimer(approval.approvalId) === timer.name);
  if (turn && asked?.approval && !asked.approval.outcome && !turn.cancelling) {
    return { events: approvalDecided(turn, asked, { outcome: 'expired', by: 'timer' }) };
  }
  const work = awaitedWork(state).find(
    ({ command }) => turn && deferralTimer(turn, command.what, command.attempt) === timer.name,
  );
  return { kind: 'due', ...(work ? { commandId: work.command.commandId } : {}) };
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
