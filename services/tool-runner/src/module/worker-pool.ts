import { ToolError } from '../tool/tool-error.js';
import { readThrown } from '../tool/thrown.js';
import type { ToolContext } from '../tool/tool.js';
import type { ToolWorker } from './tool-worker.js';

/** Loading modules takes a core, and new threads run code that is not compiled yet: short calls share a few. */
const STARTED_AT_ONCE = 2;
const KEPT_IDLE = 4;
/** Milliseconds that a call waits for a thread that is there until more are started: while no call ends, and in all. */
const PATIENCE_MS = { idle: 50, total: 250 };
/** Milliseconds after a burst of calls. */
const UNTIL_FEWER_MS = 30_000;

interface Waiting {
  readonly since: number;
  readonly resolve: (worker: ToolWorker) => void;
  readonly reject: (error: Error) => void;
}

/** Workers for as many calls as run at once. One that is free is used again; no worker has two calls. */
export class WorkerPool {
  readonly #workers = new Set<ToolWorker>();
  /** The one that was used last comes first. */
  readonly #idle: ToolWorker[] = [];
  readonly #waiting: Waiting[] = [];
  #starting = 0;
  #lastEnd = 0;
  #lastStart = 0;
  #untilFewer: NodeJS.Timeout | undefined;
  #untilMore: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(private readonly create: () => ToolWorker) {}

  /** @throws WorkerEndedError; ToolError `tool_unavailable` where no worker can be had; what the tool threw */
  async run(tool: string, args: Record<string, unknown>, ctx: ToolContext): Promise<unknown> {
    const worker = this.#idle.pop() ?? (await this.#wait(ctx.signal));
    try {
      return await worker.run(tool, args, ctx);
    } finally {
      this.#lastEnd = performance.now();
      this.#offer(worker);
      this.#grow();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#untilFewer);
    clearTimeout(this.#untilMore);
    for (const { reject } of this.#waiting.splice(0)) reject(unavailable('the runner stops'));
    await Promise.all([...this.#workers].map((worker) => worker.end()));
  }

  #wait(signal: AbortSignal): Promise<ToolWorker> {
    if (this.#isClosed) throw unavailable('the runner stops');
    return new Promise((resolve, reject) => {
      const leave = () => {
        const at = this.#waiting.indexOf(waiting);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(new ToolError('aborted', 'It was ended before it began.'));
      };
      const waiting: Waiting = {
        since: performance.now(),
        resolve: (worker) => {
          signal.removeEventListener('abort', leave);
          resolve(worker);
        },
        reject: (error) => {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      this.#grow();
    });
  }

  #grow(): void {
    while (this.#starting < Math.min(STARTED_AT_ONCE, this.#waiting.length)) {
      const left = this.#workers.size < KEPT_IDLE ? 0 : this.#untilGrowth();
      if (left > 0) {
        this.#growLater(left);
        return;
      }
      void this.#start();
    }
  }

  /** Milliseconds. Zero or less: calls wait too long for what there is. */
  #untilGrowth(): number {
    const since = this.#waiting[0]?.since ?? 0;
    const latest = Math.max(since, this.#lastStart);
    const until = Math.min(Math.max(latest, this.#lastEnd) + PATIENCE_MS.idle, latest + PATIENCE_MS.total);
    return until - performance.now();
  }

  #growLater(milliseconds: number): void {
    this.#untilMore ??= setTimeout(() => {
      this.#untilMore = undefined;
      this.#grow();
    }, milliseconds);
  }

  async #start(): Promise<void> {
    this.#starting += 1;
    const worker = this.create();
    this.#workers.add(worker);
    void worker.ended.then(() => {
      this.#forget(worker);
    });
    try {
      await worker.ready;
      this.#lastStart = performance.now();
      this.#offer(worker);
    } catch (error) {
      this.#waiting.shift()?.reject(unavailable(`a thread for it ${readThrown(error).message}`));
    } finally {
      this.#starting -= 1;
      this.#grow();
    }
  }

  #offer(worker: ToolWorker): void {
    if (!worker.isAlive) return;
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve(worker);
    else {
      this.#idle.push(worker);
      if (this.#idle.length > KEPT_IDLE) this.#fewerLater();
    }
  }

  #fewerLater(): void {
    this.#untilFewer ??= setTimeout(() => {
      this.#untilFewer = undefined;
      const spare = this.#idle.splice(0, Math.max(0, this.#idle.length - KEPT_IDLE));
      for (const worker of spare) void worker.end();
    }, UNTIL_FEWER_MS).unref();
  }

  #forget(worker: ToolWorker): void {
    this.#workers.delete(worker);
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}

function unavailable(why: string): ToolError {
  return new ToolError('tool_unavailable', `The tool cannot be run: ${why}.`);
}
