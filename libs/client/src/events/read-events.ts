import { subjects } from '@jetloop/contracts';
import { DamagedSessionError, decodeCommit, Journal, type Bus, type StoredCommit } from '@jetloop/messaging';
import type { SessionAddress } from '../command/command-sender.js';
import { SessionNotFoundError } from '../errors.js';
import { outlast } from './outlast.js';
import { Queue } from './queue.js';
import { entriesOf, type SessionEntry } from './session-entry.js';

export interface ReadEventsOptions extends SessionAddress {
  /** Sequence of the first event that is wanted. Default 0. */
  readonly from?: number | undefined;
  /** false: ends with what the journal holds now. Default true: waits for more until the signal aborts. */
  readonly follow?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds after which it looks into the journal though nothing was announced: an announcement may be lost. */
const LOOK_AGAIN_MS = 2_000;
/** Milliseconds without an answer of the server that a reader who follows outlasts. */
const PATIENCE_MS = 60_000;
/** Commits that wait for a slow reader in memory. Behind more of them the journal is read again. */
const MAX_WAITING = 64;

/**
 * The events of a session from the journal, contiguous by sequence. What is committed meanwhile arrives by `feed`; a gap is
 * filled from the journal.
 * @throws SessionNotFoundError, DamagedSessionError, RetryableError when the server does not answer; who follows outlasts
 * a minute without answers
 */
export async function* readEvents(bus: Bus, options: ReadEventsOptions): AsyncGenerator<SessionEntry, void, undefined> {
  const { tenant, session, from = 0, follow = true, signal } = options;
  const journal = new Journal(bus);
  const queue = new Queue<StoredCommit>(MAX_WAITING);
  const feed = bus.nats.subscribe(subjects.feed(tenant, session), {
    callback: (error, message) => {
      if (error) return;
      try {
        queue.push({
          streamSequence: Number(message.headers?.get('Nats-Sequence')),
          commit: decodeCommit(message.data),
          bytes: message.data.byteLength,
        });
      } catch {
        queue.wake(); // Damaged: the look into the journal that follows says so to the reader.
      }
    },
  });
  const wake = () => {
    queue.wake();
  };
  signal?.addEventListener('abort', wake);
  try {
    let position = 0;
    let next = 0;
    const page = () => outlast(() => journal.page(tenant, session, position), follow ? PATIENCE_MS : 0, signal);
    let { commits: batch, more } = await page();
    // A replica may be behind: the leader knows whether there is such a session.
    if (batch.length === 0 && (await journal.last(tenant, session)) === 0)
      throw new SessionNotFoundError(tenant, session);
    for (;;) {
      for (const { streamSequence, commit } of batch) {
        const first = commit.events[0]?.sequence ?? next;
        if (first > next)
          throw new DamagedSessionError(`session ${session}: event ${next} is missing, the next one is ${first}`);
        for (const entry of entriesOf(commit, Math.max(from, next))) {
          if (signal?.aborted) return;
          yield entry;
        }
        next = Math.max(next, first + commit.events.length);
        position = Math.max(position, streamSequence);
      }
      if (signal?.aborted || (!follow && !more)) return;
      const announced = more ? [] : await queue.take(LOOK_AGAIN_MS);
      if (signal?.aborted) return;
      const isNext = announced.length > 0 && startsBy(announced, next);
      ({ commits: batch, more } = isNext ? { commits: announced, more: false } : await page());
    }
  } finally {
    signal?.removeEventListener('abort', wake);
    feed.unsubscribe();
  }
}

/** Whether commits go on from a sequence without a gap, each from where the one before ended. */
function startsBy(commits: readonly StoredCommit[], next: number): boolean {
  let expected = next;
  for (const { commit } of commits) {
    const first = commit.events[0]?.sequence ?? 0;
    if (first > expected) return false;
    expected = Math.max(expected, first + commit.events.length);
  }
  return true;
}
