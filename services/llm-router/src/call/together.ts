/** Milliseconds for which what can wait is gathered. */
const GATHER_MS = 20;

/** Runs what can wait a moment together: all streams of this process then leave in one write to the socket. */
export class Together {
  private waiting = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;

  /** Runs it within 20 ms, once, however often it is asked for meanwhile. */
  run(work: () => void): void {
    this.waiting.add(work);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const { waiting } = this;
      this.waiting = new Set();
      for (const one of waiting) one();
    }, GATHER_MS);
  }

  /** Not any more: it was done otherwise. */
  forget(work: () => void): void {
    this.waiting.delete(work);
  }
}
