import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type LlmCommand, type LlmReply, type Usage } from '@jetloop/contracts';
import {
  LiveChannel,
  RetryableError,
  SessionReader,
  TerminalError,
  TurnWatch,
  type Delivery,
} from '@jetloop/messaging';
import { deriveMessages } from '@jetloop/session';
import type { Assembled } from '../adapter/assemble.js';
import { LLM_ROUTER_OPTIONS, type LlmRouterOptions } from '../options.js';
import { order } from '../routing/order.js';
import { sumOf } from '../routing/cost.js';
import { route, type Routed } from '../routing/route.js';
import { agentOf, standingOf } from './call-state.js';
import { LiveDeltas } from './live-deltas.js';
import { ToolSchemas } from './tool-schemas.js';

const CHARACTERS_A_TOKEN = 4;

/** The model call of one step: reads the session, routes, and answers exactly once. */
@Injectable()
export class LlmService {
  constructor(
    private readonly reader: SessionReader,
    private readonly watch: TurnWatch,
    private readonly live: LiveChannel,
    private readonly schemas: ToolSchemas,
    @Inject(LLM_ROUTER_OPTIONS) private readonly options: LlmRouterOptions,
  ) {}

  /** undefined: the step has its answer already, or its turn is over. */
  async call(command: LlmCommand, delivery: Delivery): Promise<LlmReply | undefined> {
    const { tenant, session, turn, step, commandId } = command;
    const events = await this.reader.read(tenant, session, command.upTo);
    const standing = standingOf(events, command);
    if (standing === 'settled') return undefined;
    if (standing === 'cancelling') return aborted(commandId);
    const agent = agentOf(events);
    if (!agent?.model) throw new TerminalError('invalid', `session ${session} has no agent with a model`);
    const { chain, fallback, thinking = false, temperature, maxTokens } = agent.model;
    const seen = events.slice(0, command.upTo + 1);
    const turnWatch = this.watch.follow(command);
    try {
      const tools =
        command.toolsDigest === undefined ? [] : await this.schemas.get(tenant, session, command.toolsDigest);
      const routed = await route({
        catalogue: this.options.catalogue,
        adapters: this.options.adapters,
        order: order(chain, seen, turn),
        primary: chain[0],
        fallback,
        thinking,
        request: {
          systemPrompt: agent.systemPrompt,
          messages: deriveMessages(seen),
          tools,
          step,
          ...(temperature === undefined ? {} : { temperature }),
          ...(maxTokens === undefined ? {} : { maxTokens }),
          ...(command.output ? { output: command.output } : {}),
        },
        attemptPrefix: `${commandId}.${delivery.deliveries}`,
        signal: AbortSignal.any([turnWatch.signal, delivery.signal]),
        listener: new LiveDeltas(this.live, { tenant, session, turn, step }),
        now: () => performance.now(),
        random: Math.random,
        wait,
      });
      // The service stops: the command is another replica's, or a later start's.
      if (delivery.signal.aborted && !turnWatch.signal.aborted) throw new RetryableError('the router is stopping');
      return { commandId, kind: 'llm', result: resultOf(routed) };
    } finally {
      turnWatch.stop();
    }
  }
}

function resultOf(routed: Routed): LlmReply['result'] {
  const attempts = [...routed.attempts];
  const costs = attempts
    .filter(({ outcome }) => outcome !== 'skipped')
    .map(({ cost, usage }) => (usage ? cost : undefined));
  if (!routed.ok) {
    const { error, partial } = routed;
    const said =
      partial && partial.content.length > 0
        ? { content: partial.content, model: partial.model, usage: usageOf(partial, 'aborted') }
        : {};
    return { status: 'error', error, ...said, cost: sumOf(costs), attempts };
  }
  const { content, model, end } = routed.answer;
  const finishReason = end && 'finish' in end ? end.finish : 'stop';
  return {
    status: 'ok',
    content,
    finishReason,
    model,
    usage: usageOf(routed.answer, 'missing'),
    cost: sumOf(costs),
    attempts,
  };
}

/** What is missing is estimated and says so: what is unknown is never silently 0. */
function usageOf({ usage, content }: Assembled, estimated: NonNullable<Usage['estimated']>): Usage {
  if (usage) return usage;
  const characters = content.reduce((sum, block) => sum + JSON.stringify(block).length, 0);
  return { input: 0, cacheRead: 0, cacheWrite: 0, output: Math.ceil(characters / CHARACTERS_A_TOKEN), estimated };
}

function aborted(commandId: string): LlmReply {
  const error = { code: 'aborted' as const, message: 'the turn was cancelled before the call', retryable: false };
  return { commandId, kind: 'llm', result: { status: 'error', error, cost: 0, attempts: [] } };
}

async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined); // an abort only ends the wait; the next attempt sees it
}
