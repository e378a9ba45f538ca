import { expect } from '@jest/globals';
import type { AgentSpecInput, InputBlock, LiveDelta, TurnEnd } from '@jetloop/contracts';
import type { CatalogueInput } from '@jetloop/llm-router';
import { startReplayServer, type PlannedResponse, type ReplayDialect, type ReplayServer } from '@jetloop/testing';
import { OWN_FIXTURES } from './own-fixtures.js';
import type { TestSession } from './test-session.js';
import { TestSystem } from './test-system.js';

export const DIALECTS = ['chat', 'anthropic', 'google'] as const;
type TargetInput = CatalogueInput['targets'][string];

/** A turn as the provider and the log saw it. */
export interface Asked {
  readonly session: TestSession;
  readonly end: TurnEnd;
  /** Bodies of the requests of this turn, in order. */
  readonly requests: readonly unknown[];
}

/** All services, and one strict provider for every dialect: targets `chat`, `chat-b`, `chat-whole` … without retries, `chat-again` … with two. */
export class ProviderSystem {
  private constructor(
    readonly provider: ReplayServer,
    readonly system: TestSystem,
  ) {}

  static async start(more: Readonly<Record<string, Partial<TargetInput> & { dialect: ReplayDialect }>> = {}) {
    const provider = await startReplayServer({ folder: OWN_FIXTURES, strict: true });
    const target = ({ dialect, ...settings }: Partial<TargetInput> & { dialect: ReplayDialect }): TargetInput => ({
      provider: 'test',
      dialect,
      model: `${dialect}-model`,
      baseUrl: `${provider.url}/v1`,
      retryCount: 0,
      cooldown: 0,
      capabilities: { vision: true, thinking: true, promptCaching: true },
      prices: { input: 1, output: 2 },
      ...settings,
    });
    const named = DIALECTS.flatMap(
      (dialect) =>
        [
          [dialect, { dialect }],
          [`${dialect}-b`, { dialect, model: 'other-model' }],
          [`${dialect}-whole`, { dialect, stream: false }],
          [`${dialect}-again`, { dialect, retryCount: 2 }],
        ] as const,
    );
    const given = { ...Object.fromEntries(named), ...more };
    const targets = Object.fromEntries(Object.entries(given).map(([name, settings]) => [name, target(settings)]));
    return new ProviderSystem(provider, await TestSystem.start({ targets }));
  }

  async stop(): Promise<void> {
    await this.system.stop();
    await this.provider.stop();
  }

  create(chain: readonly string[], spec: Partial<AgentSpecInput> = {}): Promise<TestSession> {
    const { model, ...more } = spec;
    return this.system.create(chain[0] ?? '', { model: { ...model, chain: [...chain] }, ...more });
  }

  /** One turn that the provider answers with these, in this order; it must use them all. */
  async turn(
    session: TestSession,
    answers: readonly PlannedResponse[],
    prompt: string | readonly InputBlock[] = 'Go on',
  ): Promise<Asked> {
    const before = this.provider.requests.length;
    this.provider.respond(...answers);
    const end = await session.prompt(prompt);
    const requests = this.provider.requests.slice(before).map(({ body }) => body);
    expect(requests).toHaveLength(answers.length);
    return { session, end, requests };
  }

  /** The deltas of a session, from now on. */
  watch(session: TestSession): LiveDelta[] {
    const deltas: LiveDelta[] = [];
    this.system.client.live(session.id, (delta) => deltas.push(delta), 'delta');
    return deltas;
  }
}
