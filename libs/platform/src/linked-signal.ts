export interface LinkedSignal {
  /** Aborted with the reason of the first of the signals that is. */
  readonly signal: AbortSignal;
  /** Aborts it by itself. */
  abort(reason: unknown): void;
  /** Listens to the signals no more: to be called when nobody needs the linked one. */
  unlink(): void;
}

/**
 * A short-lived signal that follows others, some of which live as long as the process. `AbortSignal.any` leaves a mark on
 * those until it is collected: with 200,000 of them 16 us and 600 bytes each, against 2 us and none.
 */
export function linkedSignal(...signals: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const links = signals.map((signal) => {
    const follow = () => {
      controller.abort(signal.reason);
    };
    if (signal.aborted) follow();
    else signal.addEventListener('abort', follow, { once: true });
    return { signal, follow };
  });
  return {
    signal: controller.signal,
    abort: (reason) => {
      controller.abort(reason);
    },
    unlink: () => {
      for (const { signal, follow } of links) signal.removeEventListener('abort', follow);
    },
  };
}
