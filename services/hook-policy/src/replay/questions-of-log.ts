import { isKnownEvent, type RecordedEvent, type SeamSubject, type UnknownEvent } from '@jetloop/contracts';
import { estimatedTokens, evolve, parseArguments, type SessionState } from '@jetloop/session';

/** An event with what its commit says of it. */
export interface LogEntry {
  readonly event: RecordedEvent | UnknownEvent;
  readonly at: string;
  readonly causation: string;
}

/** A seam that a session met. `sequence`: the event that shows it; the log before it is what a policy could see. */
export interface Question {
  readonly sequence: number;
  readonly turn: number;
  readonly step: number;
  readonly subject: SeamSubject;
}

/**
 * The seams that a recorded session met, whether somebody was asked or not. What policies changed when it ran stays changed:
 * a result is seen as it was recorded.
 */
export function questionsOfLog(
  entries: Iterable<LogEntry>,
  { tenant, session }: { readonly tenant: string; readonly session: string },
): Question[] {
  const questions: Question[] = [];
  const ran = new Map<string, RecordedCall>();
  let before: SessionState | undefined;
  for (const { event, at, causation } of entries) {
    const after = evolve(before, event, { tenant, session, at, causation });
    if (isKnownEvent(event)) {
      const subject = subjectOf(event, before ?? after, after, ran);
      const { turn } = after;
      const place = { sequence: event.sequence, turn: turn?.turn ?? after.turns, step: turn?.steps ?? 0 };
      if (subject) questions.push({ ...place, subject });
    }
    before = after;
  }
  return questions;
}

type RecordedCall = Extract<RecordedEvent, { type: 'tool.call' }>['data'];

function subjectOf(
  event: RecordedEvent,
  before: SessionState,
  after: SessionState,
  ran: Map<string, RecordedCall>,
): SeamSubject | undefined {
  const { agent, workspace, mode, conversation } = before;
  const facts = { agent: agent.name, workspace, ...(mode === undefined ? {} : { mode }) };
  switch (event.type) {
    case 'session.created':
      return { seam: 'session-start', ...facts, source: event.data.source };
    case 'session.resumed':
      return { seam: 'session-start', ...facts, source: 'resume' };
    case 'user.message':
    case 'steering.message':
    case 'prompt.blocked': {
      const queued = before.queue.find(({ messageId }) => messageId === event.data.messageId);
      if (!queued) return undefined;
      const { messageId, content, source } = queued;
      return { seam: 'prompt-submit', ...facts, messageId, content: [...content], source };
    }
    case 'step.start':
      return { seam: 'pre-step', ...facts, estimatedTokens: estimatedTokens(conversation) };
    case 'tool.call':
      ran.set(placeOf(event.data), event.data);
      return callSubject(event.data, before, facts);
    case 'tool.result':
      return resultSubject(event.data, ran.get(placeOf(event.data)), facts);
    case 'step.end': {
      const phase = after.turn?.phase;
      if (phase?.at !== 'after-step') return undefined;
      return { seam: 'turn-continuation', ...facts, default: phase.default, forced: after.turn?.forced ?? 0 };
    }
    case 'compaction.start':
      return { seam: 'pre-compact', ...facts, ...event.data.range, estimatedTokens: estimatedTokens(conversation) };
    default:
      return undefined;
  }
}

type Facts = Pick<SeamSubject, 'agent' | 'workspace' | 'mode'>;

function callSubject(call: RecordedCall, state: SessionState, facts: Facts): SeamSubject | undefined {
  const { n, callId, name } = call;
  const parsed = parseArguments(call.arguments);
  const tool = state.tools?.byName.get(name);
  // Neither is asked about: they are refused before.
  if (!parsed.ok || !tool) return undefined;
  const { readonly, idempotent } = tool;
  const callsBefore = state.turn?.calls ?? 0;
  return {
    ...{ seam: 'pre-tool', ...facts, n, callId, name, callsBefore },
    arguments: parsed.value,
    tool: { readonly, idempotent },
  };
}

function resultSubject(
  {
    turn: _turn,
    step: _step,
    n,
    callId,
    context: _context,
    ...result
  }: Extract<RecordedEvent, { type: 'tool.result' }>['data'],
  call: RecordedCall | undefined,
  facts: Facts,
): SeamSubject | undefined {
  if (!call || call.decision === 'deny') return undefined;
  return { seam: 'post-tool', ...facts, n, callId, name: call.name, arguments: call.effective, result };
}

const placeOf = ({ turn, step, n }: { turn: number; step: number; n: number }): string => `${turn}.${step}.${n}`;
