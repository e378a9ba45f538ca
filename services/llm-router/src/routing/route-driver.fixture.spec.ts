import type { LlmError } from '@jetloop/contracts';
import type { Adapter, ModelRequest } from '../adapter/adapter.js';
import type { Part } from '../adapter/part.js';
import { catalogueOf } from '../catalogue/catalogue.js';
import { CountedSlots } from './counted-slots.js';
import { MemoryCooldowns } from './memory-cooldowns.fixture.spec.js';
import { route } from './route.js';
import type { Routed, RouteOptions } from './route-options.js';

export type Answer = readonly Part[] | 'never';
export const answer = (text: string): Answer => [
  { kind: 'text', text },
  { kind: 'usage', usage: { input: 10, cacheRead: 0, cacheWrite: 0, output: 5 } },
  { kind: 'finish', reason: 'stop' },
];
export const fail = (code: LlmError['code'], more: Partial<LlmError> = {}): Answer => [
  { kind: 'error', error: { code, message: code, retryable: false, ...more } },
];
export const spoken: Part = { kind: 'text', text: 'half an ans' };

/** A provider fake: the answers of each target in order, the last one for ever. Records who was called. */
export class FakeProvider implements Adapter {
  readonly calls: string[] = [];
  readonly limits: number[] = [];
  readonly withoutState: boolean[] = [];

  constructor(private readonly answers: Readonly<Record<string, readonly Answer[]>>) {}

  async *attempt({ target, withoutReasoningState = false }: ModelRequest, signal: AbortSignal): AsyncGenerator<Part> {
    const before = this.calls.filter((name) => name === target.name).length;
    this.calls.push(target.name);
    this.limits.push(target.requestTimeout);
    this.withoutState.push(withoutReasoningState);
    const answers = this.answers[target.name] ?? [];
    const parts = answers[Math.min(before, answers.length - 1)] ?? [];
    if (parts === 'never') {
      yield spoken;
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      yield { kind: 'error', error: { code: 'aborted', message: 'aborted', retryable: false } };
      return;
    }
    yield* parts;
  }
}

const PLAIN = { provider: 'test', dialect: 'scripted', retryCount: 0, cooldown: 0 };

export interface Setup extends Partial<
  Pick<RouteOptions, 'order' | 'fallback' | 'delivery' | 'earlier' | 'facts' | 'signal' | 'findMisfit' | 'slots'>
> {
  readonly answers: Readonly<Record<string, readonly Answer[]>>;
  readonly target?: Record<string, unknown>;
  readonly cooldowns?: MemoryCooldowns;
  /** Milliseconds until the command's deadline. */
  readonly patienceMs?: number;
}

export interface Outcome {
  readonly routed: Routed;
  readonly calls: readonly string[];
  readonly limits: readonly number[];
  readonly withoutState: readonly boolean[];
  readonly waits: readonly number[];
  readonly said: readonly string[];
}

export async function run({
  answers,
  target = {},
  cooldowns = new MemoryCooldowns(),
  patienceMs = 600_000,
  ...options
}: Setup): Promise<Outcome> {
  const names = Object.keys(answers);
  const targets = Object.fromEntries(names.map((name) => [name, { ...PLAIN, model: name, ...target }]));
  const fake = new FakeProvider(answers);
  const waits: number[] = [];
  const said: string[] = [];
  let clock = 0;
  const routed = await route({
    catalogue: catalogueOf({ targets }, 'test'),
    adapters: { scripted: fake, chat: fake, anthropic: fake, google: fake },
    cooldowns,
    slots: new CountedSlots(),
    order: names,
    primary: names[0],
    fallback: true,
    facts: { images: [], thinking: false, tokens: 40, afterToolRound: false },
    request: { systemPrompt: '', messages: [], tools: [], step: 1 },
    commandId: 'work',
    attempt: 1,
    delivery: 1,
    earlier: [],
    signal: new AbortController().signal,
    listener: {
      part: (id, part) => said.push(`${id} ${part.kind}`),
      reset: (id) => said.push(`${id} reset`),
      end: (id) => said.push(`${id} end`),
    },
    now: () => clock,
    clock: () => clock,
    deadline: patienceMs,
    random: () => 0.5,
    wait: (milliseconds, signal) => {
      if (signal.aborted) return Promise.resolve();
      waits.push(milliseconds);
      clock += milliseconds;
      return Promise.resolve();
    },
    ...options,
  });
  return { routed, calls: fake.calls, limits: fake.limits, withoutState: fake.withoutState, waits, said };
}

export function optionsFor(name: string, more: Record<string, unknown> = {}): RouteOptions {
  const targets = { [name]: { ...PLAIN, model: name, ...more } };
  const fake = new FakeProvider({});
  return {
    catalogue: catalogueOf({ targets }, 'test'),
    adapters: { scripted: fake, chat: fake, anthropic: fake, google: fake },
    cooldowns: new MemoryCooldowns(),
    slots: new CountedSlots(),
    order: [name],
    primary: name,
    fallback: true,
    facts: { images: [], thinking: false, tokens: 40, afterToolRound: false },
    request: { systemPrompt: '', messages: [], tools: [], step: 1 },
    commandId: 'work',
    attempt: 1,
    delivery: 1,
    earlier: [],
    signal: new AbortController().signal,
    listener: { part: () => undefined, reset: () => undefined, end: () => undefined },
    now: () => 0,
    clock: () => 0,
    deadline: 600_000,
    random: () => 0,
    wait: () => Promise.resolve(),
  };
}
