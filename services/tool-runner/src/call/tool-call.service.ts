import { Injectable, Logger } from '@nestjs/common';
import type { ToolCommand, ToolReply } from '@jetloop/contracts';
import { BlobStore, LiveChannel, TurnWatch, type Delivery } from '@jetloop/messaging';
import { ToolError } from '../tool/tool-error.js';
import { runTool } from '../tool/run-tool.js';
import { ToolRegistry } from '../tool/tool-registry.js';
import type { Tool } from '../tool/tool.js';
import { CallLogs } from './call-logs.js';
import { standingOf } from './call-log.js';
import { Workspaces } from './workspaces.js';

type CallCommand = Extract<ToolCommand, { op: 'call' }>;
type ListCommand = Extract<ToolCommand, { op: 'list' }>;
type Result = ToolReply['result'];

/** Carries out tool commands: lists what an agent may use, and runs one call. */
@Injectable()
export class ToolCallService {
  private readonly logger = new Logger(ToolCallService.name);

  constructor(
    private readonly registry: ToolRegistry,
    private readonly logs: CallLogs,
    private readonly watch: TurnWatch,
    private readonly live: LiveChannel,
    private readonly blobs: BlobStore,
    private readonly workspaces: Workspaces,
  ) {}

  /** The tools of an agent that are there; their schemas go to the blob store, under the digest of the answer. */
  async list(command: ListCommand): Promise<ToolReply> {
    const wanted = command.tools.includes('*') ? this.registry.list().map(({ name }) => name) : command.tools;
    const listings = this.registry
      .list()
      .filter((tool) => wanted.includes(tool.name) && (tool.readonly || !command.readonly));
    const schemas = listings.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const bytes = Buffer.from(JSON.stringify(schemas));
    const { digest } = await this.blobs.put(command.tenant, command.session, bytes, 'application/json');
    const tools = listings.map(({ name, readonly, idempotent, schemaHash }) => ({
      name,
      readonly,
      idempotent,
      schemaHash,
    }));
    const unavailable = wanted
      .filter((name) => !this.registry.get(name))
      .map((name) => ({ name, reason: 'this runner has no tool of that name' }));
    return { commandId: command.commandId, kind: 'tool', result: { status: 'listed', digest, tools, unavailable } };
  }

  /** Runs a call that is still open; undefined: it has its result already, there is nothing to say. */
  async call(command: CallCommand, delivery: Delivery): Promise<ToolReply | undefined> {
    const log = await this.logs.read(command.tenant, command.session, command.upTo);
    const standing = standingOf(log, command);
    if (standing === 'settled') return undefined;
    const reply = (result: Result): ToolReply => ({ commandId: command.commandId, kind: 'tool', result });
    if (standing === 'cancelling')
      return reply(refusal('Cancelled', 'cancelled', 'This call was not run: the turn was cancelled.'));
    const tool = this.registry.get(command.name);
    if (!tool) return reply(refusal('UnknownTool', 'unknown_tool', `There is no tool named ${command.name}.`));
    if (!log.tools.includes('*') && !log.tools.includes(tool.name)) {
      return reply(refusal('UnknownTool', 'unknown_tool', `This agent has no tool named ${command.name}.`));
    }
    if (command.readonly && !tool.readonly) {
      return reply(refusal('ReadonlyMode', 'readonly', `${tool.name} is refused: this session is in readonly mode.`));
    }
    if (command.sandbox !== 'none') {
      return reply(
        refusal(
          'SandboxUnavailable',
          'sandbox_unavailable',
          `${tool.name} is refused: the sandbox that the agent asks for cannot be had here.`,
        ),
      );
    }
    return reply(await this.run(tool, command, delivery));
  }

  private async run(tool: Tool, command: CallCommand, delivery: Delivery): Promise<Result> {
    const { tenant, session, turn, step, n, callId, effectId } = command;
    const turnWatch = this.watch.follow(command);
    try {
      const workspace = await this.workspaces.open(command);
      const result = await runTool(
        tool,
        command.effective,
        {
          tenant,
          session,
          callId,
          effectId,
          workspace,
          signal: turnWatch.signal,
          progress: (text) => {
            this.live.publish('tool', tenant, session, { turn, step, n, callId, text });
          },
          log: {
            info: (message, fields) => {
              this.logger.log({ ...fields, message });
            },
            warn: (message, fields) => {
              this.logger.warn({ ...fields, message });
            },
          },
        },
        {
          timeoutMs: Math.min(tool.timeoutMs ?? Infinity, Math.max(0, Date.parse(command.deadline) - Date.now())),
          cancels: [delivery.signal],
        },
      );
      return { status: 'result', ...result };
    } catch (thrown) {
      if (!(thrown instanceof ToolError)) throw thrown;
      return refusal(thrown.name, thrown.code, thrown.message);
    } finally {
      turnWatch.stop();
    }
  }
}

function refusal(name: string, code: string, text: string): Result {
  return { status: 'result', content: [{ type: 'text', text }], isError: true, error: { name, code }, durationMs: 0 };
}
