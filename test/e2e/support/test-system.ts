import { mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { JetloopClient } from '@jetloop/client';
import { agentSpecSchema, type AgentSpecInput } from '@jetloop/contracts';
import { parsePolicySet, putPolicySet, type HookPolicyOptions } from '@jetloop/hook-policy';
import { catalogueOf, type CatalogueInput } from '@jetloop/llm-router';
import { AgentStore, Bus, PolicyStore } from '@jetloop/messaging';
import { runAuditQuery } from '@jetloop/persistence';
import { startStandalone, type StandaloneOptions } from '@jetloop/standalone';
import { startStrictProvider, testServers, type ModelScript, type StrictProvider } from '@jetloop/testing';
import type { Tool } from '@jetloop/tool-runner';
import { pluginSet, type AgentPolicies } from './agent-policies.js';
import { TestSession } from './test-session.js';

/** Milliseconds by which one watcher of a bucket may be behind another. */
const PROPAGATION_MS = 100;

type TargetInput = CatalogueInput['targets'][string];

export interface SystemOptions {
  /** Targets beside the scripted models, by name. */
  readonly targets?: CatalogueInput['targets'];
  /** YAML of policy sets. */
  readonly policies?: readonly string[];
  /** What policies may use besides rules and `plugins`. */
  readonly hookPolicy?: HookPolicyOptions;
  /** Policies in TypeScript, by the name of the agent that they are for. */
  readonly plugins?: Readonly<Record<string, AgentPolicies>>;
  /** Waits of external agents other than the usual ones. */
  readonly harnessTimes?: StandaloneOptions['harnessTimes'];
  /** Tools beside the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Settings of the tool-runner other than its tools. */
  readonly toolRunner?: StandaloneOptions['toolRunner'];
}

/** All services of a test file in one process, on the run's servers, with a tenant and a database of its own. */
export class TestSystem {
  private models = 0;

  private constructor(
    readonly tenant: string,
    readonly natsUrl: string,
    readonly client: JetloopClient,
    /** A connection of the test's own, as an external program has it. */
    readonly bus: Bus,
    readonly workspace: string,
    readonly databaseUrl: string,
    readonly provider: StrictProvider,
    private readonly catalogue: Map<string, NonNullable<ReturnType<ReturnType<typeof catalogueOf>['get']>>>,
    private readonly standalone: Awaited<ReturnType<typeof startStandalone>>,
    private readonly stopServers: () => Promise<void>,
  ) {}

  static async start({
    targets = {},
    policies = [],
    plugins = {},
    hookPolicy = {},
    tools = [],
    toolRunner = {},
    harnessTimes,
  }: SystemOptions = {}): Promise<TestSystem> {
    const servers = await testServers();
    const provider = await startStrictProvider();
    const workspace = await realpath(await mkdtemp(join(tmpdir(), 'jetloop-e2e-')));
    const catalogue = new Map(catalogueOf({ targets }, 'test'));
    const sets = Object.entries(plugins).map(([agent, seams]) => pluginSet(agent, seams));
    const standalone = await startStandalone({
      servers,
      workspaceRoots: [workspace],
      catalogue,
      policySets: [...policies.map((text) => parsePolicySet(text, 'test')), ...sets.map(({ set }) => set)],
      toolRunner: { ...toolRunner, extraTools: tools },
      hookPolicy: { ...hookPolicy, plugins: [...(hookPolicy.plugins ?? []), ...sets.map(({ plugin }) => plugin)] },
      logLevel: 'error',
      ...(harnessTimes ? { harnessTimes } : {}),
    });
    const { natsUrl, databaseUrl, tenant } = servers;
    const client = await JetloopClient.connect({ natsUrl, tenant, actor: 'test' });
    const bus = await Bus.connect({ url: natsUrl, name: 'test' });
    const stop = async () => {
      await servers.stop();
      await provider.stop();
    };
    return new TestSystem(tenant, natsUrl, client, bus, workspace, databaseUrl, provider, catalogue, standalone, stop);
  }

  async stop(): Promise<void> {
    await this.client.close();
    await this.bus.close();
    await this.standalone.stop();
    await rm(this.workspace, { recursive: true, force: true });
    await this.stopServers();
  }

  /** A model of the strict provider that answers by a script: the name of its target. */
  model(script: ModelScript, target: Partial<TargetInput> = {}): string {
    const name = `model-${++this.models}`;
    const made: TargetInput = {
      provider: 'strict',
      dialect: 'chat',
      baseUrl: this.provider.url,
      model: name,
      retryCount: 0,
      ...target,
    };
    this.provider.script(name, script);
    for (const [key, value] of catalogueOf({ targets: { [name]: made } }, 'test')) this.catalogue.set(key, value);
    return name;
  }

  /** Creates a session whose agent has a model of its own, or one that is named; the agent is `helper` without tools. */
  async create(model: ModelScript | string, spec: Partial<AgentSpecInput> = {}): Promise<TestSession> {
    const target = typeof model === 'string' ? model : this.model(model);
    const agent = this.spec(target, spec);
    const { session } = await this.client.create({ agent: { spec: agent }, workspace: this.workspace });
    return this.session(session, target);
  }

  /** A session that exists, with the requests of a target of the strict provider. */
  session(id: string, target = ''): TestSession {
    return new TestSession(this.client, id, this.provider.requests(target));
  }

  /** Puts an agent into AGENTS, with a model of its own: the name of its target. */
  async putAgent(
    name: string,
    script: ModelScript,
    spec: Partial<AgentSpecInput> = {},
    settings: Partial<TargetInput> = {},
  ): Promise<string> {
    const target = this.model(script, settings);
    const store = await AgentStore.open(this.bus);
    await store.put(this.tenant, agentSpecSchema.parse(this.spec(target, { name, ...spec })));
    store.close();
    return target;
  }

  /** Makes an empty file in the workspace. */
  touch(name: string): Promise<void> {
    return writeFile(join(this.workspace, name), '');
  }

  /** Whether the workspace holds a file. */
  async holds(name: string): Promise<boolean> {
    return (await readdir(this.workspace)).includes(name);
  }

  /** Removes a policy set, and waits until the services have seen it. */
  async removePolicies(name: string): Promise<void> {
    await this.changePolicies((store) => store.remove(name));
  }

  /** Puts a policy set given as YAML, and waits until the services have seen it. */
  async putPolicies(yaml: string): Promise<void> {
    await this.changePolicies((store) => putPolicySet(store, yaml, 'test'));
  }

  private async changePolicies(change: (store: PolicyStore) => Promise<unknown>): Promise<void> {
    const store = await PolicyStore.open(this.bus);
    const seen = new Promise<void>((resolve) => {
      store.onChange(resolve);
    });
    await change(store);
    await seen;
    store.close();
    await sleep(PROPAGATION_MS);
  }

  /** Rows of an audit query over this tenant, once SQL holds all that the journal holds. */
  async sql(query: string): Promise<unknown[][]> {
    await this.standalone.projected();
    return (await runAuditQuery(this.databaseUrl, query)).rows;
  }

  private spec(target: string, spec: Partial<AgentSpecInput>): AgentSpecInput {
    return { name: 'helper', model: { chain: [target] }, tools: [], ...spec };
  }
}
