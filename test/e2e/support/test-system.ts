import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JetloopClient, type PromptContent, type PromptOptions } from '@jetloop/client';
import {
  isKnownEvent,
  type AgentSpecInput,
  type EventData,
  type EventType,
  type RecordedEvent,
  type TurnEnd,
} from '@jetloop/contracts';
import { parsePolicySet, type HookPolicyOptions } from '@jetloop/hook-policy';
import { catalogueOf, type CatalogueInput } from '@jetloop/llm-router';
import { Bus } from '@jetloop/messaging';
import { runAuditQuery } from '@jetloop/persistence';
import { startStandalone, type StandaloneOptions } from '@jetloop/standalone';
import { testServers } from '@jetloop/testing';

export interface SystemOptions {
  readonly targets: CatalogueInput['targets'];
  /** YAML of policy sets. */
  readonly policies?: readonly string[];
  /** What they may use besides rules. */
  readonly hookPolicy?: HookPolicyOptions;
  /** Waits of external agents other than the usual ones. */
  readonly harnessTimes?: StandaloneOptions['harnessTimes'];
}

/** All services of a test file in one process, on the run's servers, with a tenant and a database of its own. */
export class TestSystem {
  private constructor(
    readonly tenant: string,
    readonly natsUrl: string,
    readonly client: JetloopClient,
    /** A connection of the test's own, as an external program has it. */
    readonly bus: Bus,
    readonly workspace: string,
    readonly databaseUrl: string,
    private readonly standalone: Awaited<ReturnType<typeof startStandalone>>,
    private readonly stopServers: () => Promise<void>,
  ) {}

  static async start({ targets, policies = [], hookPolicy = {}, harnessTimes }: SystemOptions): Promise<TestSystem> {
    const servers = await testServers();
    const workspace = await realpath(await mkdtemp(join(tmpdir(), 'jetloop-e2e-')));
    const standalone = await startStandalone({
      servers,
      workspaceRoots: [workspace],
      catalogue: catalogueOf({ targets }, 'test'),
      policySets: policies.map((text) => parsePolicySet(text, 'test')),
      hookPolicy,
      logLevel: 'error',
      ...(harnessTimes ? { harnessTimes } : {}),
    });
    const { natsUrl, databaseUrl, tenant } = servers;
    const client = await JetloopClient.connect({ natsUrl, tenant, actor: 'test' });
    const bus = await Bus.connect({ url: natsUrl, name: 'test' });
    return new TestSystem(tenant, natsUrl, client, bus, workspace, databaseUrl, standalone, () => servers.stop());
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.bus.close();
    await this.standalone.stop();
    await this.stopServers();
    await rm(this.workspace, { recursive: true, force: true });
  }

  /** Creates a session of an agent whose model is `target`. */
  async create(target: string, spec: Partial<AgentSpecInput> = {}): Promise<TestSession> {
    const agent = { name: target, model: { chain: [target] }, tools: [], ...spec };
    const { session } = await this.client.create({ agent: { spec: agent }, workspace: this.workspace });
    return new TestSession(this, session);
  }

  /** Rows of an audit query over this tenant, once SQL holds all that the journal holds. */
  async sql(query: string): Promise<unknown[][]> {
    await this.standalone.projected();
    return (await runAuditQuery(this.databaseUrl, query)).rows;
  }
}

/** One session of a test. */
export class TestSession {
  constructor(
    private readonly system: TestSystem,
    readonly id: string,
  ) {}

  /** Sends a prompt and waits for the end of its turn. */
  async prompt(content: PromptContent, options: PromptOptions = {}): Promise<TurnEnd> {
    const { messageId, sequence } = await this.system.client.prompt(this.id, content, options);
    return this.endOf(messageId, sequence);
  }

  async endOf(messageId: string, from = 0): Promise<TurnEnd> {
    const { reason } = await this.system.client.turnOf(this.id, messageId, {
      from,
      signal: AbortSignal.timeout(30_000),
    });
    return reason;
  }

  /** Resolves at the next piece of a model's answer. Call it before the prompt is sent. */
  said(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.system.client.live(
        this.id,
        () => {
          stop();
          resolve();
        },
        'delta',
      );
    });
  }

  async events(): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const { event } of this.system.client.events(this.id, { follow: false })) {
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

  /** Waits until the log holds an event of a type (the n-th, from 1). */
  async until(type: EventType, n = 1): Promise<void> {
    let seen = 0;
    for await (const { event } of this.system.client.events(this.id, { signal: AbortSignal.timeout(30_000) })) {
      if (event.type === type && ++seen === n) return;
    }
    throw new Error(`${type} did not come`);
  }
}
