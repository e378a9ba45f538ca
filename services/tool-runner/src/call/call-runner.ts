import { Logger } from '@nestjs/common';
import type { ToolCommand, ToolReply } from '@jetloop/contracts';
import { RetryableError, type BlobStore, type Delivery, type LiveChannel } from '@jetloop/messaging';
import { runTool } from '../tool/run-tool.js';
import { ToolError } from '../tool/tool-error.js';
import type { Tool, ToolLog } from '../tool/tool.js';
import { offloadBlocks } from './offload-blocks.js';
import { refusal } from './refusal.js';
import { WholeOutput } from './whole-output.js';
import type { Workspaces } from './workspaces.js';

type CallCommand = Extract<ToolCommand, { op: 'call' }>;
type Result = ToolReply['result'];

/** Runs the tool of a call: in the session's workspace, until it ends, its deadline comes or its turn is cancelled. */
export class CallRunner {
  private readonly logger = new Logger(CallRunner.name);

  constructor(
    private readonly workspaces: Workspaces,
    private readonly live: LiveChannel,
    private readonly blobs: BlobStore,
  ) {}

  /**
   * @param cancelled aborts when nobody wants the result any more
   * @throws RetryableError when the service stops before it ends: a result by that is nobody's word
   */
  async run(tool: Tool, command: CallCommand, delivery: Delivery, cancelled: AbortSignal): Promise<Result> {
    const result = await this.#run(tool, command, delivery, cancelled);
    if (delivery.signal.aborted) throw new RetryableError('the runner stops');
    return result;
  }

  async #run(tool: Tool, command: CallCommand, delivery: Delivery, cancelled: AbortSignal): Promise<Result> {
    const { tenant, session, turn, step, n, callId, effectId } = command;
    const sinks: WholeOutput[] = [];
    try {
      const workspace = await this.workspaces.open(command);
      const untilDeadline = Math.max(0, Date.parse(command.deadline) - Date.now());
      const limitMs = Math.min(tool.timeoutMs ?? Infinity, untilDeadline);
      const timeoutMs = Math.max(limitMs, tool.longestMs ?? 0);
      const context = {
        limitMs,
        tenant,
        session,
        callId,
        effectId,
        workspace,
        sandbox: command.sandbox,
        openSink: () => {
          const sink = new WholeOutput(this.blobs, tenant, session, this.#onLostOutput);
          sinks.push(sink);
          return sink;
        },
        signal: cancelled,
        progress: (text: string) => {
          this.live.publish('tool', tenant, session, { turn, step, n, callId, text });
        },
        log: this.#log,
      };
      const result = await runTool(tool, command.effective, context, { timeoutMs, stopping: delivery.signal });
      return await offloadBlocks(this.blobs, command, { status: 'result', ...result });
    } catch (thrown) {
      if (!(thrown instanceof ToolError)) throw thrown;
      return refusal(thrown.name, thrown.code, thrown.message);
    } finally {
      await Promise.all(sinks.map((sink) => sink.close()));
    }
  }

  readonly #onLostOutput = (error: unknown): void => {
    this.logger.warn(`the whole of an output was not kept: ${error instanceof Error ? error.message : String(error)}`);
  };

  readonly #log: ToolLog = {
    info: (message, fields) => {
      this.logger.log({ ...fields, message });
    },
    warn: (message, fields) => {
      this.logger.warn({ ...fields, message });
    },
  };
}
