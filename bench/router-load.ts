import { setTimeout as sleep } from 'node:timers/promises';
import {
  agentSpecSchema,
  llmReplySchema,
  subjects,
  type Commit,
  type LlmCommand,
  type SessionEvent,
} from '@jetloop/contracts';
import { Journal, type Bus } from '@jetloop/messaging';
import type { RouterProvider } from './router-provider.ts';

const TENANT = 'bench';
const PREPARED_AT_ONCE = 32;

/** A stream that was asked for: its command, and the times of it that this side sees (`performance.now()`). */
export interface AskedStream {
  readonly number: number;
  readonly command: LlmCommand;
  sentAt: number;
  repliedAt: number;
}

/** What the router adds to a stream: from the command to the request, and from the last byte to the reply. */
export interface AddedLatency {
  readonly before: number;
  readonly after: number;
}

/** Asks the router for streams as the orchestrator does: a session's log in the journal, a command, a reply in the inbox. */
export class RouterLoad {
  private readonly streams = new Map<string, AskedStream>();
  private readonly failures: string[] = [];
  private count = 0;
  private readonly bus: Bus;
  private readonly target: string;

  constructor(bus: Bus, target: string) {
    this.bus = bus;
    this.target = target;
    bus.nats.subscribe(`cmd.session.${TENANT}.*.llm`, {
      callback: (_error, message) => {
        this.replied(message.json());
      },
    });
  }

  /** Writes the logs of sessions whose prompt has so many bytes. */
  async prepare(count: number, promptBytes: number): Promise<AskedStream[]> {
    const journal = new Journal(this.bus);
    const prepared: AskedStream[] = [];
    while (prepared.length < count) {
      const part = Array.from({ length: Math.min(PREPARED_AT_ONCE, count - prepared.length) }, () => this.count++);
      await Promise.all(
        part.map(async (number) => {
          await journal.commit(this.commitOf(number, promptBytes), 0);
        }),
      );
      prepared.push(...part.map((number) => this.asked(number)));
    }
    return prepared;
  }

  /** Sends the commands of streams, so many a second, and waits for all replies. @throws Error when one fails or is late */
  async run(streams: readonly AskedStream[], aSecond: number, patienceMs: number): Promise<void> {
    const started = performance.now();
    for (const [n, stream] of streams.entries()) {
      const wait = started + (n * 1_000) / aSecond - performance.now();
      if (wait > 1) await sleep(wait);
      this.send(stream);
    }
    await this.answered(streams, patienceMs);
  }

  send(stream: AskedStream): void {
    this.streams.set(stream.command.commandId, stream);
    stream.sentAt = performance.now();
    void this.bus.publisher.publish(subjects.work('llm', TENANT), Buffer.from(JSON.stringify(stream.command)), {
      'Nats-Msg-Id': stream.command.commandId,
    });
  }

  async answered(streams: readonly AskedStream[], patienceMs: number): Promise<void> {
    const deadline = Date.now() + patienceMs;
    while (streams.some(({ repliedAt }) => Number.isNaN(repliedAt))) {
      const [failure] = this.failures;
      if (failure !== undefined) throw new Error(`a model call failed: ${failure}`);
      if (Date.now() > deadline) throw new Error('the replies did not come in time');
      await sleep(20);
    }
  }

  private asked(number: number): AskedStream {
    const at = new Date();
    const command: LlmCommand = {
      commandId: `${TENANT}.${sessionOf(number)}.1.1.llm.1`,
      tenant: TENANT,
      session: sessionOf(number),
      turn: 1,
      step: 1,
      what: 'llm',
      attempt: 1,
      upTo: 4,
      since: at.toISOString(),
      deadline: new Date(at.getTime() + 600_000).toISOString(),
      purpose: 'step',
    };
    return { number, command, sentAt: NaN, repliedAt: NaN };
  }

  private commitOf(number: number, promptBytes: number): Commit {
    const text = `stream-${number} `.padEnd(promptBytes, 'lorem ipsum dolor sit amet ');
    const content = [{ type: 'text' as const, text }];
    const source = { kind: 'user' as const };
    const agent = agentSpecSchema.parse({ name: 'bench', model: { chain: [this.target] }, tools: [] });
    const events: SessionEvent[] = [
      { type: 'session.created', data: { agent, source: 'startup', workspace: '/bench' } },
      {
        type: 'message.queued',
        data: { messageId: 'm', lane: 'turn', content: [{ type: 'text', text: '-' }], source },
      },
      { type: 'turn.start', data: { turn: 1, trigger: { kind: 'message', source }, messageIds: ['m'] } },
      { type: 'user.message', data: { turn: 1, messageId: 'm', content, source } },
      { type: 'step.start', data: { turn: 1, step: 1 } },
    ];
    return {
      tenant: TENANT,
      session: sessionOf(number),
      causation: `begin-${number}`,
      actor: 'bench',
      at: new Date().toISOString(),
      events: events.map((event, sequence) => ({ ...event, sequence, version: 1 })),
    };
  }

  private replied(message: unknown): void {
    const { commandId, result } = llmReplySchema.parse(message);
    const stream = this.streams.get(commandId);
    if (stream) stream.repliedAt = performance.now();
    if (result.status !== 'ok') this.failures.push(JSON.stringify(result).slice(0, 300));
  }
}

export function addedBy(streams: readonly AskedStream[], provider: RouterProvider): AddedLatency[] {
  return streams.map(({ number, sentAt, repliedAt }) => {
    const served = provider.served.get(String(number));
    return {
      before: (served?.requestAt ?? NaN) - sentAt,
      after: repliedAt - (served?.lastByteAt ?? NaN),
    };
  });
}

function sessionOf(number: number): string {
  return `s${number}`;
}
