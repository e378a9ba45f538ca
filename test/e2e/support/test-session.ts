import {
  isKnownEvent,
  type EventData,
  type EventType,
  type RecordedEvent,
  type Seam,
  type TurnEnd,
} from '@jetloop/contracts';
import type { JetloopClient, PromptContent, PromptOptions } from '@jetloop/client';
import type { SeenRequest } from '@jetloop/testing';

/** Milliseconds after which what a test waits for will not come. */
const PATIENCE_MS = 30_000;

/** One session of a test. */
export class TestSession {
  constructor(
    private readonly client: JetloopClient,
    readonly id: string,
    /** Requests that its model got, in order: `requests[0]` is request 1. */
    readonly requests: readonly SeenRequest[],
  ) {}

  /** Sends a prompt and waits for the end of its turn. */
  async prompt(content: PromptContent, options: PromptOptions = {}): Promise<TurnEnd> {
    const { messageId, sequence } = await this.client.prompt(this.id, content, options);
    return this.endOf(messageId, sequence);
  }

  /** Resolves at the next piece of a model's answer. Call it before the prompt is sent. */
  said(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.client.live(
        this.id,
        () => {
          stop();
          resolve();
        },
        'delta',
      );
    });
  }

  /** Sends a prompt, and gives its end as a function: `const end = await session.begin('go'); …; await end()`. */
  async begin(text: string): Promise<() => Promise<TurnEnd>> {
    const { messageId, sequence } = await this.client.prompt(this.id, text);
    return () => this.endOf(messageId, sequence);
  }

  async endOf(messageId: string, from = 0): Promise<TurnEnd> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    return (await this.client.turnOf(this.id, messageId, { from, signal })).reason;
  }

  async events(): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const { event } of this.client.events(this.id, { follow: false })) {
      if (isKnownEvent(event)) events.push(event);
    }
    return events;
  }

  async types(): Promise<string[]> {
    return (await this.events()).map(({ type }) => type);
  }

  async data<T extends EventType>(type: T): Promise<EventData<T>[]> {
    return (await this.events())
      .filter((event): event is Extract<RecordedEvent, { type: T }> => event.type === type)
      .map(({ data }) => data as EventData<T>);
  }

  /** What policies decided at a seam, in order. */
  async decided(seam: Seam): Promise<EventData<'policy.decided'>[]> {
    return (await this.data('policy.decided')).filter((decision) => decision.seam === seam);
  }

  /** Waits until the log holds an event of a type (the n-th, from 1). */
  async until(type: EventType, n = 1): Promise<RecordedEvent> {
    let seen = 0;
    const signal = AbortSignal.timeout(PATIENCE_MS);
    for await (const { event } of this.client.events(this.id, { signal })) {
      if (isKnownEvent(event) && event.type === type && ++seen === n) return event;
    }
    throw new Error(`${type} did not come ${n} times, but:\n${(await this.types()).join('\n')}`);
  }
}
