import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { CLEAN_UP_MS } from '../tool/stop.js';
import { readThrown } from '../tool/thrown.js';
import type { ToolContext } from '../tool/tool.js';
import { fromWorker, type ToWorker, type WorkerTask } from './protocol.js';
import { receiveError, sendError } from './sent-error.js';

const besidePackage = fileURLToPath(new URL('../../dist/module/worker-main.js', import.meta.url));
const besideBundle = fileURLToPath(new URL('../services/tool-runner/dist/module/worker-main.js', import.meta.url));
/** Threads run what was built of the package, also where the rest of it runs from its sources or from a bundle. */
const ENTRY = existsSync(besidePackage) ? besidePackage : besideBundle;

const MEMORY_LOOK_MS = 250;
const MIB = 1_048_576;

/** A worker ended before it had answered. The message says how. */
export class WorkerEndedError extends Error {
  override readonly name = 'WorkerEndedError';
}

interface Call {
  readonly number: number;
  readonly ctx: ToolContext;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** A thread with the tools of modules, which runs one call at a time. */
export class ToolWorker {
  readonly #worker: Worker;
  readonly #ready = Promise.withResolvers<undefined>();
  readonly #ended = Promise.withResolvers<undefined>();
  #calls = 0;
  #call: Call | undefined;
  #problem: string | undefined;
  #isAlive = true;

  /** @param heapMb limit (MiB) of what its heap keeps, and of the buffers beside it */
  constructor(
    task: WorkerTask,
    private readonly heapMb: number,
  ) {
    this.#worker = new Worker(ENTRY, { workerData: task, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
    this.#worker.on('message', (message: unknown) => {
      this.#hear(message);
    });
    this.#worker.on('error', (error) => {
      this.#problem = this.#describe(error);
    });
    this.#worker.on('exit', (code) => {
      this.#isAlive = false;
      const error = new WorkerEndedError(this.#problem ?? `ended its thread (exit code ${code})`);
      this.#ready.reject(error);
      this.#call?.reject(error);
      this.#ended.resolve(undefined);
    });
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Resolves when its modules are loaded. @throws WorkerEndedError */
  get ready(): Promise<unknown> {
    return this.#ready.promise;
  }

  get ended(): Promise<unknown> {
    return this.#ended.promise;
  }

  /**
   * What the tool hands back. A tool that goes on after its abort is ended with its thread.
   * @throws WorkerEndedError, or what the tool threw
   */
  async run(tool: string, args: Record<string, unknown>, ctx: ToolContext): Promise<unknown> {
    const number = ++this.#calls;
    const { tenant, session, callId, effectId, sandbox, limitMs, signal } = ctx;
    const { root, alias } = ctx.workspace;
    let overdue: NodeJS.Timeout | undefined;
    const watch = setInterval(() => void this.#boundBuffers(), MEMORY_LOOK_MS);
    const onAbort = () => {
      this.#post({ type: 'abort', call: number, reason: sendError(signal.reason) });
      overdue = setTimeout(() => void this.end(), CLEAN_UP_MS);
    };
    try {
      return await new Promise((resolve, reject) => {
        if (!this.#isAlive) throw new WorkerEndedError('ended its thread before the call');
        this.#call = { number, ctx, resolve, reject };
        this.#worker.ref();
        const facts = { tenant, session, callId, effectId, sandbox, limitMs, workspace: { root, alias } };
        this.#post({ type: 'run', call: number, tool, args, facts });
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) onAbort();
      });
    } finally {
      clearTimeout(overdue);
      clearInterval(watch);
      signal.removeEventListener('abort', onAbort);
      this.#call = undefined;
      // One that is idle keeps no program from ending.
      this.#worker.unref();
    }
  }

  /** The engine bounds the heap alone. */
  async #boundBuffers(): Promise<void> {
    const statistics = await this.#worker.getHeapStatistics().catch(() => undefined); // it has ended
    if (!statistics || statistics.external_memory <= this.heapMb * MIB) return;
    this.#problem ??= `exhausted the memory of its thread (${this.heapMb} MiB beside its heap)`;
    await this.end();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  /** What an earlier call left behind may still speak: nobody listens. */
  #hear(sent: unknown): void {
    const parsed = fromWorker.safeParse(sent);
    if (!parsed.success) return;
    const message = parsed.data;
    if (message.type === 'ready') {
      this.#ready.resolve(undefined);
      return;
    }
    const call = this.#call;
    if (message.call !== call?.number) return;
    switch (message.type) {
      case 'progress':
        call.ctx.progress(message.text);
        break;
      case 'log':
        call.ctx.log[message.level](message.message, message.fields);
        break;
      case 'returned':
        call.resolve(message.value);
        break;
      case 'thrown':
        call.reject(receiveError(message.error));
    }
  }

  #describe(error: unknown): string {
    const { code, message } = readThrown(error);
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') return `exhausted the memory of its thread (${this.heapMb} MiB)`;
    return `ended its thread by an error that nothing caught (${message})`;
  }
}
