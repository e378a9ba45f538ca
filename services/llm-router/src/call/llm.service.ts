import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Attempt, LlmCommand, LlmError, LlmReply } from '@jetloop/contracts';
import {
  ClaimCheck,
  LiveChannel,
  restoreContents,
  RetryableError,
  SessionReader,
  TurnWatch,
  type Delivery,
} from '@jetloop/messaging';
import { linkedSignal } from '@jetloop/platform';
import { LLM_ROUTER_OPTIONS, type LlmRouterOptions } from '../options.js';
import { CountedSlots } from '../routing/counted-slots.js';
import { limitDelay } from '../routing/limit-delay.js';
import type { FindMisfit } from '../routing/object-answer.js';
import { route } from '../routing/route.js';
import type { Routed } from '../routing/route-options.js';
import { SharedCooldowns } from '../routing/shared-cooldowns.js';
import { callState } from './call-state.js';
import { compactionState } from './compaction-state.js';
import { LiveDeltas, SILENT } from './live-deltas.js';
import { Together } from './together.js';
import { OutputSchemas } from './output-schemas.js';
import { readJob, type Job } from './read-job.js';
import { ToolSchemas } from './tool-schemas.js';
import { toResult } from './to-result.js';

interface RunningCall {
  readonly streamSequence: number;
  readonly reply: Promise<LlmReply | undefined>;
}

/** The model call of one step: reads the session, routes, and answers exactly once. */
@Injectable()
export class LlmService {
  private readonly running = new Map<string, RunningCall>();
  private readonly tenants = new CountedSlots();
  private readonly together = new Together();
  private readonly targets = new CountedSlots();

  constructor(
    private readonly reader: SessionReader,
    private readonly watch: TurnWatch,
    private readonly live: LiveChannel,
    private readonly tools: ToolSchemas,
    private readonly outputs: OutputSchemas,
    private readonly cooldowns: SharedCooldowns,
    private readonly contents: ClaimCheck,
    @Inject(LLM_ROUTER_OPTIONS) private readonly options: LlmRouterOptions,
  ) {}

  /**
   * undefined: the step has its answer already, its turn is over, or this process is at it through another message. The
   * same message again (after a blocked event loop) gets the answer of the call that runs.
   */
  async call(command: LlmCommand, delivery: Delivery): Promise<LlmReply | undefined> {
    const { commandId } = command;
    const { streamSequence } = delivery;
    const known = this.running.get(commandId);
    if (known) return known.streamSequence === streamSequence ? known.reply : undefined;
    const reply = this.answer(command, delivery).finally(() => this.running.delete(commandId));
    this.running.set(commandId, { streamSequence, reply });
    return reply;
  }

  private async answer(command: LlmCommand, delivery: Delivery): Promise<LlmReply | undefined> {
    const { commandId, tenant, attempt, purpose, output } = command;
    const events = await this.events(command, delivery);
    const { standing, earlier } = (purpose === 'step' ? callState : compactionState)(events, command);
    if (standing === 'settled') return undefined;
    if (standing === 'cancelling') return failed(commandId, 'aborted', 'the turn was cancelled before the call');
    const leave = this.tenants.enter(tenant, this.options.tenantLimit);
    if (!leave) return overTenantLimit(commandId, attempt);
    try {
      const findMisfit = output && this.findMisfit(output.schema);
      if (findMisfit === 'invalid') return failed(commandId, 'bad_request', 'the schema of `output` is no JSON Schema');
      const whole = await restoreContents(this.contents, command, events);
      const job = readJob(command, whole, await this.schemas(command));
      const routed = await this.route(command, delivery, job, earlier, findMisfit);
      this.report(command, routed.attempts);
      return { commandId, kind: 'llm', result: toResult(routed, earlier, Date.now()) };
    } finally {
      leave();
    }
  }

  private async route(
    command: LlmCommand,
    delivery: Delivery,
    job: Job,
    earlier: readonly Attempt[],
    findMisfit: FindMisfit | undefined,
  ): Promise<Routed> {
    const { commandId, attempt, deadline, purpose } = command;
    const { catalogue, adapters } = this.options;
    const turnWatch = this.watch.follow(command);
    const ended = linkedSignal(turnWatch.signal, delivery.signal);
    try {
      const routed = await route({
        ...job,
        catalogue,
        adapters,
        cooldowns: this.cooldowns,
        slots: this.targets,
        findMisfit,
        commandId,
        attempt,
        delivery: delivery.deliveries,
        earlier,
        deadline: Date.parse(deadline),
        signal: ended.signal,
        // A summary is nothing that the user is told.
        listener: purpose === 'step' ? new LiveDeltas(this.live, command, this.together) : SILENT,
        now: () => performance.now(),
        clock: Date.now,
        random: Math.random,
        wait,
      });
      // The service stops: the command is another replica's, or a later start's.
      const isCut = routed.kind === 'error' && routed.error.code === 'aborted';
      if (isCut && !turnWatch.signal.aborted) throw new RetryableError('the router is stopping');
      return routed;
    } finally {
      ended.unlink();
      turnWatch.stop();
    }
  }

  /** What a reply before this one brought about stands behind `upTo`. */
  private events({ tenant, session, upTo, attempt }: LlmCommand, { deliveries }: Delivery) {
    const isFirst = attempt === 1 && deliveries === 1;
    return isFirst ? this.reader.read(tenant, session, upTo) : this.reader.readAll(tenant, session);
  }

  private async schemas({ tenant, session, toolsDigest }: LlmCommand) {
    return toolsDigest === undefined ? [] : this.tools.get(tenant, session, toolsDigest);
  }

  private findMisfit(schema: Readonly<Record<string, unknown>>): FindMisfit | 'invalid' {
    try {
      return this.outputs.findMisfit(schema);
    } catch {
      return 'invalid'; // the reason would quote the schema, and whoever sent it has a better one at hand
    }
  }

  private report({ tenant, session, turn, step, purpose }: LlmCommand, attempts: readonly Attempt[]): void {
    for (const attempt of attempts) this.options.observe(attempt, { tenant, session, turn, step, purpose });
  }
}

function failed(commandId: string, code: LlmError['code'], message: string): LlmReply {
  const error = { code, message, retryable: false };
  return { commandId, kind: 'llm', result: { status: 'error', error, cost: 0, attempts: [] } };
}

function overTenantLimit(commandId: string, attempt: number): LlmReply {
  const until = new Date(Date.now() + limitDelay(attempt, Math.random)).toISOString();
  const deferred = { until, reason: 'tenant_limit', attempts: [] };
  return { commandId, kind: 'llm', result: { status: 'deferred', deferred } };
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined); // an abort only ends the wait; the next attempt sees it
}
