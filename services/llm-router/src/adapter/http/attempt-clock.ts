/** Which limit of a target ran out. */
export type TimeoutPhase = 'first-token' | 'idle' | 'request';

/** Milliseconds, from the target. */
export interface AttemptLimits {
  readonly requestTimeout: number;
  readonly firstTokenTimeout: number;
  readonly idleTimeout: number;
}

/**
 * The three timers of one attempt: the whole request, the first content (lifecycle and comments do not count) and the
 * silence between bytes (they do). The idle timer runs only while somebody waits for bytes, so that a slow consumer
 * does not look like a silent provider, and only after the first ones: before, the first-token timer stands.
 */
export class AttemptClock {
  private readonly request: NodeJS.Timeout;
  private readonly firstToken: NodeJS.Timeout;
  private idle: NodeJS.Timeout | undefined;
  private waiting = false;

  constructor(
    private readonly limits: AttemptLimits,
    private readonly expired: (phase: TimeoutPhase) => void,
  ) {
    this.request = this.timer('request', limits.requestTimeout);
    this.firstToken = this.timer('first-token', limits.firstTokenTimeout);
  }

  waitForBytes(): void {
    this.waiting = true;
    this.idle?.refresh();
  }

  bytesCame(): void {
    this.waiting = false;
    this.idle ??= setTimeout(() => {
      if (this.waiting) this.expired('idle');
    }, this.limits.idleTimeout);
  }

  contentCame(): void {
    clearTimeout(this.firstToken);
  }

  stop(): void {
    clearTimeout(this.request);
    clearTimeout(this.firstToken);
    clearTimeout(this.idle);
  }

  private timer(phase: TimeoutPhase, milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.expired(phase);
    }, milliseconds);
  }
}
