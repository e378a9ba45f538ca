import { parseSessionSubject, subjects, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import type { Subscription } from 'nats';
import type { Bus } from '../connection/bus.js';
import { RetryableError } from '../errors.js';
import { isTurnOver } from '../live/turn-watch.js';
import { decodeCommit, Journal, type StoredCommit } from './journal.js';

type AnyEvent = RecordedEvent | UnknownEvent;

interface Warm {
  readonly events: AnyEvent[];
  streamSequence: number;
  readonly feed: Subscription;
  loading: Promise<void> | undefined;
}

/** Warm sessions kept at most; the least recently read goes first. */
const MAX_WARM = 1_000;

/**
 * Session logs by reference, for workers. A session that was read stays warm: its `feed` appends to the copy, checked by
 * sequence, and a gap is filled by a direct read. So a step costs no read of the journal.
 */
export class SessionReader {
  private readonly warm = new Map<string, Warm>();
  private readonly journal: Journal;

  constructor(private readonly bus: Bus) {
    this.journal = new Journal(bus);
  }

  /**
   * Events 0 to at least `upTo` (a sequence).
   * @throws RetryableError when the journal (or this replica of it) does not hold them yet
   */
  async read(tenant: string, session: string, upTo: number): Promise<readonly AnyEvent[]> {
    const entry = this.entry(tenant, session);
    if (entry.events.length <= upTo) await this.fill(entry, tenant, session);
    if (entry.events.length <= upTo) {
      throw new RetryableError(
        `session ${session}: event ${upTo} is not in the journal yet, it ends at ${entry.events.length - 1}`,
      );
    }
    return entry.events;
  }

  /** All events that the journal holds now; none for a session that does not exist. */
  async readAll(tenant: string, session: string): Promise<readonly AnyEvent[]> {
    const entry = this.entry(tenant, session);
    await this.fill(entry, tenant, session);
    return entry.events;
  }

  /** Whether the journal says by now that the turn is cancelling or ended. */
  async isTurnOver(tenant: string, session: string, turn: number): Promise<boolean> {
    return isTurnOver(await this.readAll(tenant, session), turn);
  }

  close(): void {
    for (const { feed } of this.warm.values()) feed.unsubscribe();
    this.warm.clear();
  }

  private entry(tenant: string, session: string): Warm {
    const key = `${tenant}.${session}`;
    const known = this.warm.get(key);
    if (known) {
      this.warm.delete(key);
      this.warm.set(key, known);
      return known;
    }
    const feed = this.bus.nats.subscribe(subjects.feed(tenant, session), {
      callback: (error, message) => {
        const entry = this.warm.get(key);
        if (error || !entry || !parseSessionSubject(message.subject)) return;
        append(entry, {
          streamSequence: Number(message.headers?.get('Nats-Sequence')),
          commit: decodeCommit(message.data),
        });
      },
    });
    const entry: Warm = { events: [], streamSequence: 0, feed, loading: undefined };
    this.warm.set(key, entry);
    this.evict();
    return entry;
  }

  private async fill(entry: Warm, tenant: string, session: string): Promise<void> {
    entry.loading ??= this.journal
      .load(tenant, session, entry.streamSequence)
      .then((commits) => {
        for (const commit of commits) append(entry, commit);
      })
      .finally(() => {
        entry.loading = undefined;
      });
    await entry.loading;
  }

  private evict(): void {
    for (const [key, { feed }] of this.warm) {
      if (this.warm.size <= MAX_WARM) return;
      feed.unsubscribe();
      this.warm.delete(key);
    }
  }
}

/** Appends only what follows directly; what is there already, and what leaves a gap, is left for the next read. */
function append(entry: Warm, { streamSequence, commit }: StoredCommit): void {
  if (commit.events[0]?.sequence !== entry.events.length) return;
  entry.events.push(...commit.events);
  entry.streamSequence = streamSequence;
}
