import { Injectable } from '@nestjs/common';
import type { ToolCommand, ToolReply } from '@jetloop/contracts';
import { TurnWatch, type Delivery } from '@jetloop/messaging';
import { EffectGuard } from '../effect/effect-guard.js';
import { ToolError } from '../tool/tool-error.js';
import type { Tool } from '../tool/tool.js';
import { listingOf } from '../tool/tool-registry.js';
import { CallLimits } from './call-limits.js';
import { CallLogs } from './call-logs.js';
import { standingOf, type CallLog } from './call-log.js';
import { CallRunner } from './call-runner.js';
import { refusal } from './refusal.js';
import { Tools, type Asker } from './tools.js';

type CallCommand = Extract<ToolCommand, { op: 'call' }>;
type Result = ToolReply['result'];

/** Milliseconds after which a call over a limit comes back, at the earliest; three times that at the latest. */
const AGAIN_MS = 1_000;

/** Carries out one call of a tool. */
@Injectable()
export class ToolCallService {
  constructor(
    private readonly tools: Tools,
    private readonly logs: CallLogs,
    private readonly runner: CallRunner,
    private readonly guard: EffectGuard,
    private readonly limits: CallLimits,
    private readonly watch: TurnWatch,
  ) {}

  /** Undefined: it has its result already, or another runner was believed; there is nothing to say. */
  async call(command: CallCommand, delivery: Delivery): Promise<ToolReply | undefined> {
    // Followed before the log is read, and before a server is started for it: a cancel in between is not missed.
    const turn = this.watch.follow(command);
    try {
      const result = await this.#resultOf(command, delivery, turn.signal);
      return result && { commandId: command.commandId, kind: 'tool', result };
    } finally {
      turn.stop();
    }
  }

  /** Whether the call only waits for the runner that is at it. */
  waits({ effectId }: CallCommand): Promise<boolean> {
    return this.guard.knows(effectId);
  }

  async #resultOf(command: CallCommand, delivery: Delivery, cancelled: AbortSignal): Promise<Result | undefined> {
    const log = await this.#read(command, delivery);
    const standing = standingOf(log, command);
    if (standing === 'settled') return undefined;
    const mayHaveRun = delivery.deliveries > 1 && (await this.waits(command));
    if (standing === 'cancelling' && !mayHaveRun) return notRun;
    const { tenant, session, servers, name } = command;
    const finding = this.#find({ tenant, session, servers, tools: log.tools }, name);
    const tool = await (mayHaveRun ? finding : Promise.race([finding, cancelOf(cancelled)]));
    if (tool === 'cancelled') return notRun;
    if (tool instanceof ToolError) return refusal(tool.name, tool.code, tool.message);
    if (!tool) return refusal('UnknownTool', 'unknown_tool', `This agent has no tool named ${name}.`);
    const refused = refuse(tool, command);
    if (refused) return refused;
    const changed = changedSince(tool, command);
    if (changed) return changed;
    const admission = this.limits.admit(tenant, name);
    if (!admission.admitted) return deferred(admission.reason);
    try {
      const run = () => this.runner.run(tool, command, delivery, cancelled);
      return await (needsLedger(tool) ? this.guard.runOnce(command, delivery, run) : run());
    } finally {
      admission.release();
    }
  }

  /** A server that cannot be had is an answer to the model. */
  #find(asker: Asker, name: string): Promise<Tool | ToolError | undefined> {
    return this.tools.find(asker, name).catch((error: unknown) => {
      if (error instanceof ToolError) return error;
      throw error;
    });
  }

  /** Something may have happened since a first delivery: then the log is asked anew. */
  async #read({ tenant, session, upTo }: CallCommand, { deliveries }: Delivery): Promise<CallLog> {
    if (deliveries > 1) await this.logs.readAll(tenant, session);
    return this.logs.read(tenant, session, upTo);
  }
}

const notRun = refusal('Cancelled', 'cancelled', 'This call was not run: the turn was cancelled.');

/** Resolves when the turn is cancelled. */
function cancelOf(cancelled: AbortSignal): Promise<'cancelled'> {
  return new Promise((resolve) => {
    const onAbort = () => {
      resolve('cancelled');
    };
    if (cancelled.aborted) onAbort();
    else cancelled.addEventListener('abort', onAbort, { once: true });
  });
}

function needsLedger(tool: Tool): boolean {
  return !tool.readonly && !tool.idempotent;
}

function refuse(tool: Tool, command: CallCommand): Result | undefined {
  if (command.readonly && !tool.readonly)
    return refusal('ReadonlyMode', 'readonly', `${tool.name} is refused: this session is in readonly mode.`);
  return undefined;
}

/** A person approved a call of another tool than this one is now. */
function changedSince(tool: Tool, { schemaHash: approved }: CallCommand): Result | undefined {
  if (approved === undefined) return undefined;
  const { schemaHash } = listingOf(tool);
  if (approved === schemaHash) return undefined;
  const until = new Date().toISOString();
  return { status: 'deferred', deferred: { until, reason: 'tool_changed', attempts: [], schemaHash } };
}

/** Not all at once again: the calls that wait are spread by chance. */
function deferred(reason: string): Result {
  const until = new Date(Date.now() + AGAIN_MS * (1 + Math.random() * 2)).toISOString();
  return { status: 'deferred', deferred: { until, reason, attempts: [] } };
}
