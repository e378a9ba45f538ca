import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { EventsStream, JournalFollower } from '@jetloop/messaging';
import { Unfolder, type UnfolderState } from './unfolder.js';

/** Runs the unfolder for as long as the application does. It needs no PostgreSQL. */
@Injectable()
export class UnfolderService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(UnfolderService.name);
  private readonly ending = new AbortController();
  private readonly unfolder: Unfolder;
  private running: Promise<void> = Promise.resolve();
  private lastStatus: string | undefined;

  constructor(
    journal: JournalFollower,
    private readonly stream: EventsStream,
  ) {
    this.unfolder = new Unfolder(journal, stream, (state) => {
      this.report(state);
    });
  }

  onApplicationBootstrap(): void {
    this.running = this.unfolder.run(this.ending.signal);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  /** Stream sequence of the last commit in EVENTS, whichever replica put it there; 0 for none. */
  async position(): Promise<number> {
    return (await this.stream.last()).journal?.streamSequence ?? 0;
  }

  state(): UnfolderState {
    return this.unfolder.state;
  }

  private report(state: UnfolderState): void {
    const isNews = state.status !== this.lastStatus;
    this.lastStatus = state.status;
    if (!isNews) return;
    if (state.status === 'stopped') this.logger.error(`public stream stopped: ${state.error.message}`);
    else if (state.status === 'waiting')
      this.logger.warn(`public stream waits and tries again: ${state.error.message}`);
    else this.logger.log(`public stream: ${state.status}`);
  }
}
