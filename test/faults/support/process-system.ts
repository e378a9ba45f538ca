import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JetloopClient } from '@jetloop/client';
import { agentSpecSchema, type AgentSpecInput } from '@jetloop/contracts';
import type { CatalogueInput } from '@jetloop/llm-router';
import { AgentStore, applyTopology, Bus, PolicyStore } from '@jetloop/messaging';
import {
  spawnService,
  startStrictProvider,
  testServers,
  type ModelScript,
  type ServiceProcess,
  type StrictProvider,
} from '@jetloop/testing';

/** Short, so that what a dead process held comes again soon. */
const ACK_WAIT_MS = 1_000;

export interface ProcessSystemOptions {
  readonly targets?: CatalogueInput['targets'];
  /** Scripts of models at a strict provider, by the name of their target. */
  readonly models?: Readonly<Record<string, ModelScript>>;
  /** What is set for the targets of `models` beside the usual, by name. */
  readonly settings?: Readonly<Record<string, Partial<CatalogueInput['targets'][string]>>>;
  /** Address of NATS; default: the run's, with an account of its own. */
  readonly natsUrl?: string;
  readonly replicas?: number;
  /** Milliseconds; default 1,000. */
  readonly ackWaitMs?: number;
}

/** Services as processes of their own, which a test starts and kills one by one. */
export class ProcessSystem {
  private readonly processes = new Set<ServiceProcess>();

  private constructor(
    readonly tenant: string,
    readonly natsUrl: string,
    readonly databaseUrl: string,
    readonly folder: string,
    readonly client: JetloopClient,
    readonly bus: Bus,
    /** Where `models` are; it outlives every service. */
    readonly provider: StrictProvider,
    private readonly ackWaitMs: number,
    private readonly stopServers: () => Promise<void>,
  ) {}

  static async start(options: ProcessSystemOptions): Promise<ProcessSystem> {
    const { models = {}, settings = {}, natsUrl, replicas = 1, ackWaitMs = ACK_WAIT_MS } = options;
    const servers = await testServers();
    const provider = await startStrictProvider();
    const targets = { ...options.targets };
    for (const [name, script] of Object.entries(models)) {
      provider.script(name, script);
      targets[name] = { provider: 'strict', dialect: 'chat', baseUrl: provider.url, model: name, ...settings[name] };
    }
    const url = natsUrl ?? servers.natsUrl;
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'jetloop-faults-')));
    await writeFile(join(folder, 'models.yaml'), JSON.stringify({ targets }));
    const bus = await Bus.connect({ url, name: 'test' });
    await applyTopology(bus, { ackWaitMs, replicas });
    const client = await JetloopClient.connect({ natsUrl: url, tenant: servers.tenant, actor: 'test' });
    return new ProcessSystem(servers.tenant, url, servers.databaseUrl, folder, client, bus, provider, ackWaitMs, () =>
      servers.stop(),
    );
  }

  async spawn(service: string, env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
    const process = await spawnService(service, {
      NATS_URL: this.natsUrl,
      DATABASE_URL: this.databaseUrl,
      JETLOOP_ACK_WAIT_MS: String(this.ackWaitMs),
      JETLOOP_WORKSPACE_ROOTS: this.folder,
      JETLOOP_ALLOW_INLINE_AGENTS: 'true',
      JETLOOP_MODELS: join(this.folder, 'models.yaml'),
      ...env,
    });
    this.processes.add(process);
    return process;
  }

  /** Puts an agent into AGENTS whose model is `target`. */
  async putAgent(target: string, more: Partial<AgentSpecInput> = {}): Promise<void> {
    const store = await AgentStore.open(this.bus);
    await store.put(this.tenant, agentSpecSchema.parse(this.agent(target, more).spec));
    store.close();
  }

  /** The agent of every test here. */
  agent(target: string, more: Partial<AgentSpecInput> = {}) {
    return { spec: { name: target, model: { chain: [target] }, tools: [], ...more } };
  }

  async putPolicies(name: string, set: unknown): Promise<void> {
    const store = await PolicyStore.open(this.bus);
    await store.put(name, set);
    store.close();
  }

  /** @throws Error when a model was sent what a real provider would refuse */
  async stop(): Promise<void> {
    await this.client.close();
    await Promise.all([...this.processes].map((process) => process.stop(5_000)));
    await this.bus.close();
    await this.stopServers();
    await rm(this.folder, { recursive: true, force: true });
    await this.provider.stop();
  }
}
