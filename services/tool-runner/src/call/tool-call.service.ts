import { Injectable } from '@nestjs/common';
import type { ToolCommand, ToolReply } from '@jetloop/contracts';
import type { Delivery } from '@jetloop/messaging';
import { EffectGuard } from '../effect/effect-guard.js';
import { ToolRegistry } from '../tool/tool-registry.js';
import type { Tool } from '../tool/tool.js';
import { CallLogs } from './call-logs.js';
import { standingOf, type CallLog } from './call-log.js';
import { CallRunner } from './call-runner.js';
import { refusal } from './refusal.js';

type CallCommand = Extract<ToolCommand, { op: 'call' }>;
type Result = ToolReply['result'];

/** Carries out one call of a tool. */
@Injectable()
export class ToolCallService {
  constructor(
    private readonly registry: ToolRegistry,
    private readonly logs: CallLogs,
    private readonly runner: CallRunner,
    private readonly guard: EffectGuard,
  ) {}

  /** Undefined: it has its result already, or another runner was believed; there is nothing to say. */
  async call(command: CallCommand, delivery: Delivery): Promise<ToolReply | undefined> {
    const result = await this.#resultOf(command, delivery);
    return result && { commandId: command.commandId, kind: 'tool', result };
  }

  /** Whether the call only waits for the runner that is at it. */
  async waits({ name, effectId }: CallCommand): Promise<boolean> {
    const tool = this.registry.get(name);
    return tool !== undefined && needsLedger(tool) && (await this.guard.knows(effectId));
  }

  async #resultOf(command: CallCommand, delivery: Delivery): Promise<Result | undefined> {
    const log = await this.#read(command, delivery);
    const standing = standingOf(log, command);
    if (standing === 'settled') return undefined;
    const tool = this.registry.get(command.name);
    const mayHaveRun = delivery.deliveries > 1 && (await this.waits(command));
    if (standing === 'cancelling' && !mayHaveRun)
      return refusal('Cancelled', 'cancelled', 'This call was not run: the turn was cancelled.');
    if (!tool) return refusal('UnknownTool', 'unknown_tool', `There is no tool named ${command.name}.`);
    const refused = refuse(tool, command, log);
    if (refused) return refused;
    const run = () => this.runner.run(tool, command, delivery);
    return needsLedger(tool) ? this.guard.runOnce(command, delivery, run) : run();
  }

  /** Something may have happened since a first delivery: then the log is asked anew. */
  async #read({ tenant, session, upTo }: CallCommand, { deliveries }: Delivery): Promise<CallLog> {
    if (deliveries > 1) await this.logs.readAll(tenant, session);
    return this.logs.read(tenant, session, upTo);
  }
}

function needsLedger(tool: Tool): boolean {
  return !tool.readonly && !tool.idempotent;
}

function refuse(tool: Tool, command: CallCommand, log: CallLog): Result | undefined {
  if (!log.tools.includes('*') && !log.tools.includes(tool.name))
    return refusal('UnknownTool', 'unknown_tool', `This agent has no tool named ${command.name}.`);
  if (command.readonly && !tool.readonly)
    return refusal('ReadonlyMode', 'readonly', `${tool.name} is refused: this session is in readonly mode.`);
  if (command.sandbox === 'none') return undefined;
  const text = `${tool.name} is refused: the sandbox that the agent asks for cannot be had here.`;
  return refusal('SandboxUnavailable', 'sandbox_unavailable', text);
}
