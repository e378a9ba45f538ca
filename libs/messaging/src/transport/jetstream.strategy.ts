import { Logger } from '@nestjs/common';
import { Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import type { Reply } from '@jetloop/contracts';
import { failureReply } from '@jetloop/session';
import { lastValueFrom } from 'rxjs';
import type { Bus } from '../connection/bus.js';
import { faultPoint } from '../fault/fault-point.js';
import { PublishRefusedError, RetryableError, TerminalError } from '../errors.js';
import type { CommandService } from '../topology/topology.js';
import { DeadLetters } from './dead-letters.js';
import type { Delivery, PulledMessage } from './delivery.js';
import { answerAbandoned } from './abandoned-inbox.js';
import { toInboxMessage, type InboxSettlement } from './inbox-message.js';
import { parseWork } from './parse-work.js';
import { waitPattern } from './work-handler.js';
import { Puller } from './puller.js';
import { WorkReplies } from './work-replies.js';

export interface JetStreamStrategyOptions {
  readonly bus: Bus;
  readonly service: CommandService;
  /** Commands handled at once; default 64. */
  readonly slots?: number;
  /** Milliseconds of the consumer's ack wait; default 30,000. `working()` is sent every third of it. */
  readonly ackWaitMs?: number;
  /** Milliseconds that a command delivered 8 times must be old to be given up; default 120,000. */
  readonly parkAfterMs?: number;
  /** Told how each message was settled, and after how many milliseconds. */
  readonly observe?: (outcome: 'done' | 'retried' | 'dead', milliseconds: number) => void;
  /** Milliseconds that work may take to end when the service stops; default 25,000. */
  readonly graceMs?: number;
}

const MAX_DELIVERIES = 8;
const kinds = {
  'loop-orchestrator': 'session',
  'llm-router': 'llm',
  'tool-runner': 'tool',
  'hook-policy': 'hook',
  'acp-bridge': 'acp',
} as const;

/**
 * Nest transport over a durable pull consumer of COMMANDS (spec 8.1): pulls for free slots, keeps the message alive while
 * its handler works, settles it after the reply is stored, and gives up what cannot be handled, with an answer to whoever
 * waits for it.
 */
export class JetStreamStrategy extends Server implements CustomTransportStrategy {
  protected override readonly logger = new Logger(JetStreamStrategy.name);
  private readonly dead: DeadLetters;
  private readonly replies: WorkReplies;
  private readonly stopping = new AbortController();
  private puller: Puller | undefined;

  constructor(private readonly options: JetStreamStrategyOptions) {
    super();
    this.dead = new DeadLetters(options.bus, options.service);
    this.replies = new WorkReplies(options.bus);
  }

  listen(callback: () => void): void {
    const { bus, service, slots = 64 } = this.options;
    const handler = this.messageHandlers.get(kinds[service]);
    if (!handler) throw new Error(`${service}: no controller has a @WorkHandler('${kinds[service]}')`);
    this.puller = new Puller({
      bus,
      stream: 'COMMANDS',
      consumer: service,
      slots,
      handle: (message) => this.process(message, handler),
    });
    this.puller.start();
    callback();
  }

  /** Pulls no more, lets work end within the grace, aborts and releases the rest. */
  async close(): Promise<void> {
    await this.puller?.stop(this.options.graceMs ?? 25_000);
    this.stopping.abort();
    await this.puller?.stop(1_000);
  }

  /** Whether the consumer answers. */
  isAlive(): boolean {
    return this.puller?.isAlive() ?? false;
  }

  override on(): never {
    throw new Error('JetStreamStrategy has no events');
  }

  override unwrap(): never {
    throw new Error('JetStreamStrategy wraps nothing');
  }

  private async process(message: PulledMessage, handler: MessageHandler): Promise<void> {
    const { ackWaitMs = 30_000, parkAfterMs = 120_000 } = this.options;
    const started = performance.now();
    let outcome: 'done' | 'retried' | 'dead' = 'done';
    const alive = setInterval(() => {
      message.working();
    }, ackWaitMs / 3);
    try {
      const isWorn = message.deliveries >= MAX_DELIVERIES && Date.now() - message.storedAt >= parkAfterMs;
      if (isWorn && !(await this.onlyWaits(message))) {
        outcome = 'dead';
        await this.giveUp(message, 'parked', 'dead_lettered', `given up at delivery ${message.deliveries}`);
      } else {
        await this.run(message, handler);
      }
    } catch (error) {
      outcome = error instanceof TerminalError ? 'dead' : 'retried';
      await this.failed(message, error);
    } finally {
      clearInterval(alive);
      this.options.observe?.(outcome, performance.now() - started);
    }
  }

  /** What only waits for others is not given up (spec 8.1). */
  private async onlyWaits(message: PulledMessage): Promise<boolean> {
    const kind = kinds[this.options.service];
    const check = this.messageHandlers.get(waitPattern(kind));
    if (!check) return false;
    const data = kind === 'session' ? toInboxMessage(message) : parseWork(kind, message.body).command;
    return (await call(check, data, this.deliveryOf(message))) === true;
  }

  private deliveryOf(message: PulledMessage): Delivery {
    const { subject, stream, streamSequence, deliveries, storedAt, headers } = message;
    return { subject, stream, streamSequence, deliveries, storedAt, headers, signal: this.stopping.signal };
  }

  private async run(message: PulledMessage, handler: MessageHandler): Promise<void> {
    const kind = kinds[this.options.service];
    const delivery = this.deliveryOf(message);
    if (kind === 'session') {
      await this.settleInbox(message, (await call(handler, toInboxMessage(message), delivery)) as InboxSettlement);
      return;
    }
    const work = parseWork(kind, message.body);
    if (Date.parse(work.command.deadline) <= Date.now()) {
      const text = 'the command was past its deadline when it came up';
      await this.replies.publish(work, failureReply(work, 'expired', text));
    } else {
      const reply = (await call(handler, work.command, delivery)) as Reply | undefined;
      if (reply) await this.replies.publish(work, reply);
    }
    await this.ack(message);
  }

  private async settleInbox(message: PulledMessage, settlement: InboxSettlement): Promise<void> {
    if (settlement.dead) await this.dead.write(message, settlement.dead);
    if (settlement.confirm) await message.ackConfirmed();
    else await this.ack(message);
    await settlement.answer?.();
  }

  private async ack(message: PulledMessage): Promise<void> {
    if ((await faultPoint('ack.before')) !== 'drop') message.ack();
    await faultPoint('ack.after');
  }

  private async failed(message: PulledMessage, error: unknown): Promise<void> {
    const text = error instanceof Error ? error.message : String(error);
    if (this.stopping.signal.aborted) {
      message.nak(0);
      return;
    }
    if (error instanceof TerminalError) {
      await this.giveUp(message, 'terminal', error.code, text).catch((again: unknown) => {
        this.retryLater(message, again);
      });
      return;
    }
    this.retryLater(message, error);
  }

  private retryLater(message: PulledMessage, error: unknown): void {
    const ceiling = Math.min(30_000, 1_000 * 2 ** (message.deliveries - 1));
    const expected = error instanceof RetryableError || error instanceof PublishRefusedError;
    if (error instanceof RetryableError && error.delayMs !== undefined) {
      this.logger.debug(`${message.subject}: ${error.message}`);
      message.nak(error.delayMs);
      return;
    }
    const text = `${message.subject}: delivery ${message.deliveries} failed: ${error instanceof Error ? error.message : String(error)}`;
    if (expected) this.logger.warn(text);
    else this.logger.error(text, error instanceof Error ? error.stack : undefined);
    message.nak(Math.random() * ceiling);
  }

  private async giveUp(
    message: PulledMessage,
    cls: 'terminal' | 'parked',
    code: string,
    reason: string,
  ): Promise<void> {
    this.logger.error(`${message.subject}: ${reason} (${code})`);
    await faultPoint('dead.before');
    await this.dead.write(message, { class: cls, code, reason });
    await faultPoint('dead.after');
    await this.answerGivenUp(message, code, reason);
    await this.ack(message);
  }

  /** Nobody waits for ever: the session, or the caller, is told. */
  private async answerGivenUp(message: PulledMessage, code: string, reason: string): Promise<void> {
    const kind = kinds[this.options.service];
    if (kind === 'session') {
      await answerAbandoned(this.options.bus, message, code, reason);
      return;
    }
    try {
      const work = parseWork(kind, message.body);
      await this.replies.publish(work, failureReply(work, 'dead_lettered', reason));
    } catch (error) {
      // A command that cannot be read names nobody who could be told; the dead letter has it.
      if (!(error instanceof TerminalError)) throw error;
    }
  }
}

function call(handler: MessageHandler, data: unknown, delivery: Delivery): Promise<unknown> {
  return Promise.resolve(handler(data, delivery)).then((result: unknown) =>
    isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result,
  );
}

function isObservable(value: unknown): value is Parameters<typeof lastValueFrom>[0] {
  return typeof value === 'object' && value !== null && 'subscribe' in value;
}
