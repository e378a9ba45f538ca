import { parseSessionSubject, type Commit, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import { cleanJson, cleanText, mayNeedCleaning } from '../journal/clean-json.js';
import { nextHash } from '../journal/hash-chain.js';
import { sliceEvents } from '../journal/slice-events.js';
import type { ProjectedEvent } from './projected-event.js';

/** The last event of a session that was projected. */
export interface SessionHead {
  readonly sequence: number;
  readonly hash: Uint8Array;
}

interface CommitEntry {
  readonly streamSequence: number;
  readonly subject: string;
  readonly raw: Uint8Array;
  readonly commit: Commit;
}

/** A commit that cannot be projected, with the reason in words. */
export class UnprojectableCommitError extends Error {
  override readonly name = 'UnprojectableCommitError';
}

/**
 * The events of a commit, cleaned and chained to the session's head.
 * @throws UnprojectableCommitError
 */
export function readCommit(entry: CommitEntry, head: SessionHead | undefined): ProjectedEvent[] {
  const { commit, streamSequence } = entry;
  check(entry, head);
  const slices = sliceEvents(entry.raw);
  if (slices.length !== commit.events.length) {
    throw new UnprojectableCommitError(`its body holds ${slices.length} events, and ${commit.events.length} were read`);
  }
  const events = commit.events.map((event, index) => clean(event, slices[index] ?? new Uint8Array()));
  const decision = events.map(({ event }) => event);
  const [causation, actor] = [cleanText(commit.causation), cleanText(commit.actor)];
  const isCleaned = causation !== commit.causation || actor !== commit.actor;
  let previous = head?.hash;
  return events.map(({ event, raw, sanitized }) => {
    previous = nextHash(previous, raw);
    const { tenant, session, at: time } = commit;
    const place = { tenant, session, time, causation, actor, streamSequence };
    return { ...place, raw, hash: previous, event, sanitized: sanitized || isCleaned, decision };
  });
}

function check({ commit, subject }: CommitEntry, head: SessionHead | undefined): void {
  const ids = parseSessionSubject(subject);
  if (ids?.tenant !== commit.tenant || ids.session !== commit.session) {
    throw new UnprojectableCommitError(`it names ${commit.tenant}/${commit.session}, but its subject is ${subject}`);
  }
  if (Number.isNaN(Date.parse(commit.at))) {
    throw new UnprojectableCommitError(`its time ${JSON.stringify(commit.at)} is not RFC 3339`);
  }
  const first = commit.events[0]?.sequence ?? 0;
  if (head !== undefined && first <= head.sequence) {
    throw new UnprojectableCommitError(`it begins at sequence ${first}, and ${head.sequence} was projected already`);
  }
  for (const [index, event] of commit.events.entries()) {
    if (event.sequence === first + index) continue;
    throw new UnprojectableCommitError(`event ${index} has sequence ${event.sequence}: expected ${first + index}`);
  }
}

function clean(event: RecordedEvent | UnknownEvent, raw: Uint8Array) {
  if (!mayNeedCleaning(raw)) return { event, raw, sanitized: false };
  const cleaned: UnknownEvent = {
    ...event,
    type: cleanText(event.type),
    ...(event.correlationId === undefined ? {} : { correlationId: cleanText(event.correlationId) }),
    data: cleanJson(event.data),
  };
  return { event: cleaned, raw, sanitized: JSON.stringify(cleaned) !== JSON.stringify(event) };
}
