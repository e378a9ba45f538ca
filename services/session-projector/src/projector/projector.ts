import type { JournalFollower } from '@jetloop/messaging';
import { createKysely, migrate, type DatabaseConnection } from '@jetloop/persistence';
import { atMost, Backoff, pauseFor } from '../backoff.js';
import { PROJECTION_VERSION } from '../projection/projections.js';
import { checkJournal, type Position } from './check-journal.js';
import { openPosition, tryLead } from './position.repository.js';
import { projectBatch, type BatchResult } from './project-batch.js';
import type { ProjectorCounts, ProjectorState } from './projector-state.js';
import { ProjectorStoppedError } from '../projector-stopped-error.js';
import { runUntilStopped } from '../run-until-stopped.js';

/** Commits in one transaction. */
const MAX_BATCH = 400;
/**
 * Milliseconds between two transactions while the journal grows. SQL is behind by so much, and the rows of a session are
 * read and written once for all commits of that time.
 */
const PAUSE_MS = 200;
const STANDBY_MS = 1_000;
const JOURNAL_CHECK_MS = 5_000;
/** A frozen PostgreSQL: the connection is given up, and the transaction with it. */
const QUERY_TIMEOUT_MS = 60_000;

export type JournalSource = Pick<JournalFollower, 'follow' | 'bounds'>;

export interface ProjectorOptions {
  readonly databaseUrl: string;
  /** Whether to bring the database to the newest schema first. */
  readonly migrate: boolean;
}

/** Told what happens; nothing is decided on it. */
export interface ProjectorEvents {
  changed(state: ProjectorState): void;
  applied(result: BatchResult): void;
}

/**
 * Copies the journal into SQL, exactly once and in order (spec 7.2). Any number may run: the one whose connection holds
 * the lock is active, and works on that very connection, so that it cannot write after it has lost the lock.
 */
export class Projector {
  private current: ProjectorState = { status: 'starting' };
  private readonly totals = { events: 0, quarantined: 0, gaps: 0 };
  private isMigrated = false;
  private readonly backoff = new Backoff();

  constructor(
    private readonly options: ProjectorOptions,
    private readonly journal: JournalSource,
    private readonly events: ProjectorEvents,
  ) {}

  get state(): ProjectorState {
    return this.current;
  }

  get counts(): ProjectorCounts {
    return { ...this.totals };
  }

  /** Runs until the signal aborts, or until it must stop for good. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    const work = async () => {
      await this.prepare();
      await this.takePart(signal);
    };
    const become = (state: ProjectorState) => {
      this.become(state);
    };
    return runUntilStopped(work, { signal, backoff: this.backoff, become });
  }

  private async prepare(): Promise<void> {
    if (this.options.migrate && !this.isMigrated) await migrate(this.options.databaseUrl);
    this.isMigrated = true;
  }

  /** One connection's life: it stands by, then leads. */
  private async takePart(signal: AbortSignal): Promise<void> {
    const { databaseUrl } = this.options;
    const broken = new AbortController();
    const db = createKysely(databaseUrl, {
      max: 1,
      applicationName: 'session-projector',
      queryTimeoutMs: QUERY_TIMEOUT_MS,
      pipeline: true,
      onConnectionError: (error) => {
        broken.abort(error);
      },
    });
    try {
      await db.connection().execute(async (connection) => {
        while (!(await tryLead(connection))) {
          this.become({ status: 'standby' });
          await pauseFor(STANDBY_MS, signal);
          if (signal.aborted) return;
        }
        await this.lead(connection, AbortSignal.any([signal, broken.signal]));
        broken.signal.throwIfAborted();
      });
    } finally {
      // Frees the lock. A connection that is stuck is not waited for: the server ends it.
      await atMost(STANDBY_MS, db.destroy());
    }
  }

  private async lead(connection: DatabaseConnection, signal: AbortSignal): Promise<void> {
    const bounds = await this.journal.bounds();
    const stored = await openPosition(connection, PROJECTION_VERSION, bounds.created);
    checkVersion(stored.version);
    checkJournal(stored, bounds);
    const position = { ...stored };
    this.become({ status: 'projecting', streamSequence: position.streamSequence });
    const watch = this.watchJournal(position);
    try {
      const following = { maxBatch: MAX_BATCH, signal: AbortSignal.any([signal, watch.signal]) };
      for await (const entries of this.journal.follow(position.streamSequence, following)) {
        const result = await projectBatch(connection, entries);
        position.streamSequence = entries.at(-1)?.streamSequence ?? position.streamSequence;
        this.count(result);
        this.backoff.reset();
        this.become({ status: 'projecting', streamSequence: position.streamSequence });
        if (entries.length < MAX_BATCH) await pauseFor(PAUSE_MS, following.signal);
      }
      watch.signal.throwIfAborted();
    } finally {
      watch.stop();
    }
  }

  /** Looks now and then whether the journal still is the one that is projected; the signal's reason is the error. */
  private watchJournal(position: Position): { signal: AbortSignal; stop: () => void } {
    const mismatch = new AbortController();
    const look = async () => {
      const seen = { ...position };
      const bounds = await this.journal.bounds().catch(() => undefined); // NATS is away: following it says so
      if (bounds === undefined) return;
      try {
        checkJournal(seen, bounds);
      } catch (error) {
        mismatch.abort(error);
      }
    };
    const timer = setInterval(() => void look(), JOURNAL_CHECK_MS);
    const stop = () => {
      clearInterval(timer);
    };
    return { signal: mismatch.signal, stop };
  }

  private count({ events, quarantined, gaps }: BatchResult): void {
    this.totals.events += events;
    this.totals.quarantined += quarantined.length;
    this.totals.gaps += gaps.length;
    this.events.applied({ events, quarantined, gaps });
  }

  private become(state: ProjectorState): void {
    this.current = state;
    this.events.changed(state);
  }
}

function checkVersion(stored: number): void {
  if (stored === PROJECTION_VERSION) return;
  throw new ProjectorStoppedError(
    'projection_version',
    `SQL holds version ${stored} of the projection, and this build makes version ${PROJECTION_VERSION}`,
    'Rebuild SQL from the journal, or run the build that made it',
  );
}
