import { loadToolModules } from '../tool/load-tool-modules.js';
import { ToolError } from '../tool/tool-error.js';
import type { Tool, ToolReturn } from '../tool/tool.js';
import { ToolWorker, WorkerEndedError } from './tool-worker.js';
import { WorkerPool } from './worker-pool.js';

const DEFAULT_HEAP_MB = 512;

export interface ToolModulesOptions {
  /** Packages, or paths of files (absolute, or beginning with a dot). */
  readonly names: readonly string[];
  /** Where the latter begin. */
  readonly folder: string;
  /** Memory (MiB) that the heap of one call may keep; default 512. */
  readonly heapMb?: number | undefined;
}

/** The tools of configured modules. What they do in a call they do in a worker thread, which they can end without harm to others. */
export class ToolModules {
  private constructor(
    readonly tools: readonly Tool[],
    private readonly pool: WorkerPool,
  ) {}

  /** @throws ToolModuleError */
  static async load({ names, folder, heapMb = DEFAULT_HEAP_MB }: ToolModulesOptions): Promise<ToolModules> {
    const pool = new WorkerPool(() => new ToolWorker({ modules: names, folder }, heapMb));
    const tools = await loadToolModules(names, folder);
    return new ToolModules(
      tools.map((tool) => inWorker(tool, pool)),
      pool,
    );
  }

  /** Ends the workers, and what still runs in them. */
  close(): Promise<void> {
    return this.pool.close();
  }
}

function inWorker(tool: Tool, pool: WorkerPool): Tool {
  return {
    ...tool,
    async run(args, ctx) {
      try {
        // What comes from a tool is checked by whoever runs it.
        return (await pool.run(tool.name, args, ctx)) as ToolReturn;
      } catch (error) {
        throw error instanceof WorkerEndedError ? ended(tool, error) : error;
      }
    },
  };
}

function ended({ name, readonly, idempotent }: Tool, { message }: WorkerEndedError): ToolError {
  if (readonly || idempotent) return new ToolError('tool_ended', `${name} ${message}.`);
  return new ToolError(
    'outcome_unknown',
    `${name} ${message}: it is not known what came of this call. Look before you try it again.`,
  );
}
