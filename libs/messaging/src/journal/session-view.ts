import { subjects, type Commit, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import type { Msg, Subscription } from 'nats';
import type { Bus } from '../connection/bus.js';
import { RetryableError } from '../errors.js';
import { decodeRepublished, Journal } from './journal.js';

/** What is kept of a session's log: `apply` changes the state in place, event by event. */
export interface SessionFold<S> {
  initial(): S;
  apply(state: S, event: RecordedEvent | UnknownEvent): void;
  /** Whether the state holds all of the events, so that it weighs what they weigh. */
  readonly keepsEvents?: boolean;
}

interface Warm<S> {
  readonly state: S;
  readonly feed: Subscription;
  /** Commits that the feed brought and that follow directly, as they came: most are never asked for. */
  fresh: Uint8Array[];
  /** The sequence that the next event of the state has. */
  next: number;
  /** Of the last commit that is here, fresh ones included. */
  streamSequence: number;
  loading: Promise<void> | undefined;
  /** Of the commits that are kept, fresh ones included. */
  bytes: number;
}

/** Warm sessions kept at most; the least recently read goes first. */
const MAX_WARM = 1_000;
/** Bytes of commits that they may hold together; as objects in memory they take about three times so much. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * A small state of each session, made of its log, for workers that need no whole conversation. Once read it stays warm: the
 * session's `feed` goes on with it, checked by sequence, and a gap is filled by a direct read. So a step costs no read of the journal.
 */
export class SessionView<S> {
  private readonly warm = new Map<string, Warm<S>>();
  private readonly journal: Journal;
  private bytes = 0;

  /** @param maxBytes bytes of commits that warm sessions may hold together; default 32 MiB */
  constructor(
    private readonly bus: Bus,
    private readonly fold: SessionFold<S>,
    private readonly maxBytes = MAX_BYTES,
  ) {
    this.journal = new Journal(bus);
  }

  /**
   * The state with events 0 to at least `upTo` (a sequence).
   * @throws RetryableError when the journal (or this replica of it) does not hold them yet
   */
  async read(tenant: string, session: string, upTo: number): Promise<S> {
    const entry = this.entry(tenant, session);
    this.takeFresh(entry, tenant, session);
    if (entry.next <= upTo) await this.fill(entry, tenant, session);
    if (entry.next <= upTo) {
      throw new RetryableError(
        `session ${session}: event ${upTo} is not in the journal yet, it ends at ${entry.next - 1}`,
      );
    }
    return entry.state;
  }

  /** The state with all events that the journal holds now. */
  async readAll(tenant: string, session: string): Promise<S> {
    const entry = this.entry(tenant, session);
    await this.fill(entry, tenant, session);
    return entry.state;
  }

  close(): void {
    for (const key of [...this.warm.keys()]) this.forget(key);
  }

  private entry(tenant: string, session: string): Warm<S> {
    const key = `${tenant}.${session}`;
    const known = this.warm.get(key);
    if (known) {
      this.warm.delete(key);
      this.warm.set(key, known);
      return known;
    }
    const feed = this.bus.nats.subscribe(subjects.feed(tenant, session), {
      callback: (error, message) => {
        const warm = this.warm.get(key);
        if (error || !warm || !take(warm, message)) return;
        this.weigh(key, warm, message.data.length);
      },
    });
    const state = this.fold.initial();
    const entry = { state, feed, fresh: [], next: 0, streamSequence: 0, loading: undefined, bytes: 0 };
    this.warm.set(key, entry);
    this.evict();
    return entry;
  }

  private async fill(entry: Warm<S>, tenant: string, session: string): Promise<void> {
    entry.loading ??= this.journal
      .load(tenant, session, entry.streamSequence)
      .then((commits) => {
        this.takeFresh(entry, tenant, session);
        let bytes = 0;
        for (const stored of commits) {
          if (stored.streamSequence <= entry.streamSequence) continue;
          this.append(entry, stored.commit);
          entry.streamSequence = stored.streamSequence;
          bytes += stored.bytes;
        }
        if (this.fold.keepsEvents === true) this.weigh(`${tenant}.${session}`, entry, bytes);
      })
      .finally(() => {
        entry.loading = undefined;
      });
    await entry.loading;
  }

  private takeFresh(entry: Warm<S>, tenant: string, session: string): void {
    const key = `${tenant}.${session}`;
    try {
      for (const raw of entry.fresh.splice(0)) {
        this.append(entry, decodeRepublished(raw));
        if (this.fold.keepsEvents !== true) this.weigh(key, entry, -raw.length);
      }
    } catch (error) {
      // Whatever it is, the journal has the last word: the next read begins anew.
      this.forget(key);
      throw error;
    }
  }

  /** Only what follows directly. */
  private append(entry: Warm<S>, commit: Commit): void {
    if (commit.events[0]?.sequence !== entry.next) return;
    for (const event of commit.events) this.fold.apply(entry.state, event);
    entry.next += commit.events.length;
  }

  /** Adds to what a session holds, if it is a warm one still. */
  private weigh(key: string, entry: Warm<S>, bytes: number): void {
    if (this.warm.get(key) !== entry) return;
    entry.bytes += bytes;
    this.bytes += bytes;
    this.evict();
  }

  /** Forgets whole sessions, but for the one read last; one that is being read then is only not kept. */
  private evict(): void {
    for (const key of this.warm.keys()) {
      if (this.warm.size <= MAX_WARM && (this.bytes <= this.maxBytes || this.warm.size === 1)) return;
      this.forget(key);
    }
  }

  private forget(key: string): void {
    const entry = this.warm.get(key);
    if (!entry) return;
    entry.feed.unsubscribe();
    this.bytes -= entry.bytes;
    this.warm.delete(key);
  }
}

/** Keeps what JOURNAL republished if it follows directly; anything else is left for the next read of the journal: false. */
function take(warm: Warm<unknown>, { headers, data }: Msg): boolean {
  if (headers?.get('Nats-Stream') !== 'JOURNAL') return false;
  if (Number(headers.get('Nats-Last-Sequence')) !== warm.streamSequence) return false;
  // A copy: the message is a part of a larger buffer, which would stay with it.
  warm.fresh.push(Buffer.from(data));
  warm.streamSequence = Number(headers.get('Nats-Sequence'));
  return true;
}
