import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { LlmCommand, LlmReply } from '@jetloop/contracts';
import {
  LiveChannel,
  RetryableError,
  SessionReader,
  TerminalError,
  TurnWatch,
  type Delivery,
} from '@jetloop/messaging';
import { agentOf, deriveMessages } from '@jetloop/session';
import { LLM_ROUTER_OPTIONS, type LlmRouterOptions } from '../options.js';
import { jobFacts } from '../routing/job-facts.js';
import { order } from '../routing/order.js';
import { route } from '../routing/route.js';
import { callState } from './call-state.js';
import { LiveDeltas } from './live-deltas.js';
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

  constructor(
    private readonly reader: SessionReader,
    private readonly watch: TurnWatch,
    private readonly live: LiveChannel,
    private readonly schemas: ToolSchemas,
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
    const { tenant, session, turn, step, commandId } = command;
    const events = await this.events(command);
    const { standing, earlier } = callState(events, command);
    if (standing === 'settled') return undefined;
    if (standing === 'cancelling') return aborted(commandId);
    const agent = agentOf(events);
    if (!agent?.model) throw new TerminalError('invalid', `session ${session} has no agent with a model`);
    const { chain, fallback, thinking, temperature, maxTokens } = agent.model;
    const { systemPrompt } = agent;
    const seen = events.slice(0, command.upTo + 1);
    const turnWatch = this.watch.follow(command);
    try {
      const messages = deriveMessages(seen);
      const tools = await this.tools(command);
      const routed = await route({
        catalogue: this.options.catalogue,
        adapters: this.options.adapters,
        order: order(chain, seen, turn),
        primary: chain[0],
        fallback,
        facts: jobFacts({ events: seen, turn, thinking: thinking === true, systemPrompt, messages, tools }),
        request: {
          systemPrompt,
          messages,
          tools,
          step,
          ...(temperature === undefined ? {} : { temperature }),
          ...(maxTokens === undefined ? {} : { maxTokens }),
          ...(thinking === undefined ? {} : { thinking }),
          ...(command.output ? { output: command.output } : {}),
        },
        commandId,
        delivery: delivery.deliveries,
        earlier,
        signal: AbortSignal.any([turnWatch.signal, delivery.signal]),
        listener: new LiveDeltas(this.live, { tenant, session, turn, step }),
        now: () => performance.now(),
        random: Math.random,
        wait,
      });
      // The service stops: the command is another replica's, or a later start's.
      const isCut = routed.kind === 'error' && routed.error.code === 'aborted';
      if (isCut && !turnWatch.signal.aborted) throw new RetryableError('the router is stopping');
      return { commandId, kind: 'llm', result: toResult(routed, earlier, Date.now()) };
    } finally {
      turnWatch.stop();
    }
  }

  /** A later attempt must see what the reply before it deferred: that stands behind `upTo`. */
  private events({ tenant, session, upTo, attempt }: LlmCommand) {
    return attempt > 1 ? this.reader.readAll(tenant, session) : this.reader.read(tenant, session, upTo);
  }

  /** None where the answer is to be an object. */
  private async tools({ tenant, session, toolsDigest, output }: LlmCommand) {
    return toolsDigest === undefined || output ? [] : this.schemas.get(tenant, session, toolsDigest);
  }
}

function aborted(commandId: string): LlmReply {
  const error = { code: 'aborted' as const, message: 'the turn was cancelled before the call', retryable: false };
  return { commandId, kind: 'llm', result: { status: 'error', error, cost: 0, attempts: [] } };
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined); // an abort only ends the wait; the next attempt sees it
}
