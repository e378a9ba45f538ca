import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { JournalFollower } from '@jetloop/messaging';
import { createKysely } from '@jetloop/persistence';
import { atMost, pauseFor } from '../backoff.js';
import { SESSION_PROJECTOR_OPTIONS, type SessionProjectorOptions } from '../options.js';
import { readPosition } from './position.repository.js';
import type { BatchResult } from './project-batch.js';
import type { ProjectorCounts, ProjectorState } from './projector-state.js';
import { Projector } from './projector.js';

const POLL_MS = 20;
const END_MS = 5_000;

/** Runs the projector for as long as the application does. */
@Injectable()
export class ProjectorService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(ProjectorService.name);
  private readonly ending = new AbortController();
  private readonly projector: Projector;
  private readonly db;
  private running: Promise<void> = Promise.resolve();
  private lastStatus: string | undefined;
  private lastKnown: number | undefined;

  constructor(@Inject(SESSION_PROJECTOR_OPTIONS) options: SessionProjectorOptions, journal: JournalFollower) {
    this.db = createKysely(options.databaseUrl, { max: 1, applicationName: 'session-projector-position' });
    this.projector = new Projector(options, journal, {
      changed: (state) => {
        this.report(state);
      },
      applied: (result) => {
        this.complain(result);
      },
    });
  }

  onApplicationBootstrap(): void {
    this.running = this.projector.run(this.ending.signal);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending.abort();
    // A PostgreSQL that does not answer must not hold up the end of the process.
    await atMost(END_MS, Promise.all([this.running, this.db.destroy()]));
  }

  state(): ProjectorState {
    return this.projector.state;
  }

  counts(): ProjectorCounts {
    return this.projector.counts;
  }

  /** Stream sequence of the last commit in SQL, whichever replica put it there; 0 for none. */
  position(): Promise<number> {
    return readPosition(this.db);
  }

  /** The same; while PostgreSQL is away, what this process last knew of it. */
  async lastPosition(): Promise<number> {
    try {
      this.lastKnown = await this.position();
    } catch (error) {
      if (this.lastKnown === undefined) throw error;
    }
    return this.lastKnown;
  }

  /**
   * Waits until SQL holds the journal up to a stream sequence.
   * @param timeoutMs default 10,000 milliseconds
   * @throws Error when it does not in that time
   */
  async waitForProjection(streamSequence: number, timeoutMs = 10_000): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const position = await this.position();
      if (position >= streamSequence) return;
      if (deadline.aborted) {
        const { status } = this.projector.state;
        throw new Error(`SQL is at ${position} of ${streamSequence} after ${timeoutMs} ms (projector: ${status})`);
      }
      await pauseFor(POLL_MS, deadline);
    }
  }

  private report(state: ProjectorState): void {
    if (state.status === 'projecting') this.lastKnown = state.streamSequence;
    const isNews = state.status !== this.lastStatus;
    this.lastStatus = state.status;
    if (!isNews) return;
    if (state.status === 'stopped') this.logger.error(`projection stopped: ${state.error.message}`);
    else if (state.status === 'waiting') this.logger.warn(`projection waits and tries again: ${state.error.message}`);
    else this.logger.log(`projection: ${state.status}`);
  }

  private complain({ quarantined, gaps }: BatchResult): void {
    for (const { streamSequence, subject, problem } of quarantined) {
      this.logger.error(`commit ${streamSequence} (${subject}) went into quarantine: ${problem}`);
    }
    for (const { session, expected, found } of gaps) {
      this.logger.error(`the journal lacks events ${expected} to ${found - 1} of session ${session}`);
    }
  }
}
