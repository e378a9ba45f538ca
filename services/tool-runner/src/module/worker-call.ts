import { ToolError } from '../tool/tool-error.js';
import type { Tool, ToolContext, ToolLog } from '../tool/tool.js';
import { Workspace } from '../tool/workspace.js';
import type { FromWorker, SentError, ToWorker } from './protocol.js';
import { receiveError, sendError } from './sent-error.js';

type Run = Extract<ToWorker, { type: 'run' }>;

/** One call as its worker carries it out: the tool runs, and what it says goes to the runner. */
export class WorkerCall {
  readonly #controller = new AbortController();

  constructor(
    private readonly run: Run,
    private readonly send: (message: FromWorker) => void,
  ) {}

  get number(): number {
    return this.run.call;
  }

  abort(reason: SentError): void {
    this.#controller.abort(receiveError(reason));
  }

  async carryOut(tool: Tool | undefined): Promise<void> {
    const { call, args } = this.run;
    try {
      if (!tool) throw new ToolError('tool_unavailable', `The modules of this runner have no tool ${this.run.tool}.`);
      this.#give(await tool.run(args, this.#context()));
    } catch (error) {
      this.send({ type: 'thrown', call, error: sendError(error) });
    }
  }

  #context(): ToolContext {
    const { call, facts } = this.run;
    return {
      ...facts,
      workspace: Workspace.opened(facts.workspace),
      signal: this.#controller.signal,
      progress: (text) => {
        this.send({ type: 'progress', call, text });
      },
      log: { info: this.#logAs('info'), warn: this.#logAs('warn') },
    };
  }

  #logAs(level: 'info' | 'warn'): ToolLog['info'] {
    const { call } = this.run;
    return (message, fields) => {
      const line = { type: 'log', call, level, message } as const;
      try {
        this.send({ ...line, fields });
      } catch {
        // Fields that cannot leave the thread are no reason to lose the line, or the call.
        this.send(line);
      }
    };
  }

  #give(value: unknown): void {
    try {
      this.send({ type: 'returned', call: this.run.call, value });
    } catch {
      throw new ToolError('invalid_result', 'The tool handed back what is no plain data.');
    }
  }
}
