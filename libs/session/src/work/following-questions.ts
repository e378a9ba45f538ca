import {
  isKnownEvent,
  jsonBytes,
  plainDecision,
  type Commit,
  type FollowingQuestion,
  type HookReply,
  type Seam,
} from '@jetloop/contracts';
import { decide } from '../decide/decide.js';
import { applyCommit } from '../evolve/evolve.js';
import type { DecisionContext } from '../next/decision-context.js';
import type { SessionState } from '../state.js';
import { awaitedWork } from './awaited-work.js';
import { questionDigest } from './question-digest.js';
import type { AwaitedWork } from './work.js';

type HookWork = Extract<AwaitedWork, { kind: 'hook' }>;

/** Questions of one command beside its own. */
const MAX_FOLLOWING = 8;
/** JSON bytes of them: what goes along may come to nothing. */
const MAX_BYTES = 64 * 1024;
/** JSON bytes of the question with them: it has to fit one message, and the answers to all of it one commit. */
const MAX_TOGETHER = 512 * 1024;

/** Seams whose subject holds no content that is kept outside the log. */
const FOLLOWING: ReadonlySet<Seam> = new Set(['pre-tool', 'turn-continuation', 'pre-step']);

/**
 * The question with those that come next, as long as each answer changes nothing: found by deciding ahead, on a state that
 * is never committed.
 */
export function withFollowingQuestions(work: HookWork, state: SessionState, context: DecisionContext): HookWork {
  const following: FollowingQuestion[] = [];
  let asked = work;
  let current = state;
  let left: number | undefined;
  while (following.length < MAX_FOLLOWING) {
    const ahead = decideAhead(asked, current, context);
    if (!ahead) break;
    const [next, ...others] = awaitedWork(ahead.state);
    if (next?.kind !== 'hook' || others.length > 0) break;
    const { commandId, turn, step, subject } = next.command;
    if (!FOLLOWING.has(subject.seam)) break;
    const question = {
      ...{ commandId, turn, step, subject },
      digest: questionDigest(ahead.state, subject),
      pending: conversationOf(ahead.commit),
    };
    left = (left ?? Math.min(MAX_BYTES, MAX_TOGETHER - jsonBytes(work.command))) - jsonBytes(question);
    if (left < 0) break;
    following.push(question);
    asked = next;
    current = ahead.state;
  }
  return following.length === 0 ? work : { ...work, command: { ...work.command, following } };
}

/** What an answer that changes nothing would commit; undefined: it leads nowhere else. */
function decideAhead(
  { command }: HookWork,
  state: SessionState,
  context: DecisionContext,
): { readonly commit: Commit; readonly state: SessionState } | undefined {
  const { commandId, tenant, session, subject } = command;
  if (subject.seam === 'pre-step' || subject.seam === 'pre-compact') return undefined;
  const reply: HookReply = {
    commandId,
    kind: 'hook',
    seam: subject.seam,
    ...(subject.seam === 'post-tool' ? { asked: subject.result } : {}),
    policyVersion: context.policyVersion,
    result: { status: 'decided', decision: plainDecision(subject.seam) },
    hooks: [],
    observed: [],
  };
  const decision = decide(state, { from: 'worker', commandId, reply }, { tenant, session, actor: 'hook' }, context);
  if (decision.kind !== 'commit') return undefined;
  return { commit: decision.commit, state: applyCommit(state, decision.commit) };
}

/** The events that the model sees something of. */
function conversationOf({ events }: Commit): FollowingQuestion['pending'] {
  return events.filter((event) => isKnownEvent(event) && 'content' in event.data);
}
