import { EVENT_VERSION, type CallerCommand, type Commit, type Outcome, type RecordedEvent } from '@jetloop/contracts';
import type { HookReply, Reply, SessionEvent, Timer } from '@jetloop/contracts';
import type { EventContext } from '../evolve/event-context.js';
import { evolve } from '../evolve/evolve.js';
import type { DecisionContext } from '../next/decision-context.js';
import { nextEvents } from '../next/next-events.js';
import type { SessionState } from '../state.js';
import { awaitedWork } from '../work/awaited-work.js';
import { questionDigest } from '../work/question-digest.js';
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
  const settle = (events: readonly SessionEvent[]) => {
    for (let more = events; more.length > 0; more = current ? nextEvents(current, context) : []) append(more);
  };
  settle(direct.events);
  for (const answer of followedBy(command)) {
    const following =
      current && answersNext(current, answer, context) ? decideReply(current, answer, context) : undefined;
    if (!following || !('events' in following)) break;
    settle(following.events);
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

type FollowingAnswer = HookReply & { readonly digest: string };

/** Answers to the questions that came next, if the first answer changed nothing. */
function followedBy(command: SessionCommand): FollowingAnswer[] {
  if (command.from !== 'worker' || command.reply.kind !== 'hook') return [];
  return (command.reply.followed ?? []).map((answer) => ({ ...answer, kind: 'hook' }));
}

/** Whether it is the question that the session asks now, of the policies that there are now: what came meanwhile may have changed both. */
function answersNext(
  state: SessionState,
  { commandId, digest, policyVersion }: FollowingAnswer,
  context: DecisionContext,
): boolean {
  if (policyVersion !== context.policyVersion) return false;
  return awaitedWork(state).some(
    ({ kind, command }) =>
      kind === 'hook' && command.commandId === commandId && questionDigest(state, command.subject) === digest,
  );
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
