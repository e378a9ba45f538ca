import { ToolError } from './tool-error.js';

/** What a tool gets after the abort to clean up (the grace of a process group is 3 s) before its answer is no longer awaited. */
export const CLEAN_UP_MS = 5_000;

const STOPPING = 'stopping';

/** Whether a run is ended because the runner itself ends: then there is no time for a grace. */
export function isStopping({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof ToolError && reason.code === STOPPING;
}

export interface StopLimits {
  /** Aborts when nobody wants the result any more. */
  readonly cancel: AbortSignal;
  /** Aborts when the runner stops and waits no longer. */
  readonly stopping?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * When a run has to end: at its time limit, or when one of the given signals aborts. Which came first is noted at that moment,
 * as both may have happened when the tool answers. Call `release` when the run is over.
 */
export class Stop {
  /** Aborts with a {@link ToolError} that says why. */
  readonly signal: AbortSignal;
  /** Resolves when the time to clean up after the abort is over too. */
  readonly overdue: Promise<undefined>;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #reason: ToolError | undefined;
  #cleanUp: NodeJS.Timeout | undefined;
  #tooLate: () => void = () => undefined;

  constructor(
    private readonly tool: string,
    private readonly limits: StopLimits,
  ) {
    const { cancel, stopping, timeoutMs } = limits;
    this.signal = this.#controller.signal;
    this.overdue = new Promise((resolve) => {
      this.#tooLate = () => {
        resolve(undefined);
      };
    });
    this.#timer = setTimeout(() => {
      this.#end(new ToolError('timeout', `${tool} took longer than its limit of ${timeoutMs} ms.`));
    }, timeoutMs);
    cancel.addEventListener('abort', this.#onCancel, { once: true });
    stopping?.addEventListener('abort', this.#onStopping, { once: true });
    if (cancel.aborted) this.#onCancel();
    if (stopping?.aborted === true) this.#onStopping();
  }

  /** Why the run has to end; undefined while it need not. */
  reason(): ToolError | undefined {
    return this.#reason;
  }

  release(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#cleanUp);
    this.limits.cancel.removeEventListener('abort', this.#onCancel);
    this.limits.stopping?.removeEventListener('abort', this.#onStopping);
  }

  readonly #onCancel = (): void => {
    this.#end(new ToolError('aborted', `${this.tool} was cancelled before it ended.`));
  };

  readonly #onStopping = (): void => {
    this.#end(new ToolError(STOPPING, `${this.tool} was ended: the runner stops.`));
  };

  #end(reason: ToolError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#cleanUp = setTimeout(this.#tooLate, CLEAN_UP_MS);
    this.#controller.abort(reason);
  }
}
