import { agentSpecSchema, type AgentSpecInput } from '@jetloop/contracts';
import { AgentStore, type Bus } from '@jetloop/messaging';
import { AcpEditor, type EditorOptions } from './acp-editor.js';
import type { TestSession } from './test-session.js';
import { TestSystem, type SystemOptions } from './test-system.js';

export interface AcpSystemOptions extends SystemOptions {
  /** Agents by their names; each without tools unless it says otherwise. */
  readonly agents: Readonly<Record<string, Omit<AgentSpecInput, 'name'>>>;
}

/** All services, agents that they know by name, and editors. */
export class AcpSystem {
  private readonly editors: AcpEditor[] = [];
  private readonly kept = new Map<string, AcpEditor>();

  private constructor(
    readonly system: TestSystem,
    private readonly first: string,
  ) {}

  static async start({ agents, ...options }: AcpSystemOptions): Promise<AcpSystem> {
    const system = await TestSystem.start(options);
    await AcpSystem.put(system.bus, system.tenant, agents);
    return new AcpSystem(system, Object.keys(agents)[0] ?? '');
  }

  /** Makes agents known by their names. */
  static async put(bus: Bus, tenant: string, agents: AcpSystemOptions['agents']): Promise<void> {
    const store = await AgentStore.open(bus);
    for (const [name, spec] of Object.entries(agents))
      await store.put(tenant, agentSpecSchema.parse({ tools: [], ...spec, name }));
    store.close();
  }

  get workspace(): string {
    return this.system.workspace;
  }

  /** An editor whose new sessions have this agent, before it has said anything. */
  start(agent: string, options: Partial<EditorOptions> = {}): AcpEditor {
    const { natsUrl, tenant } = this.system;
    const editor = AcpEditor.start({ natsUrl, tenant, agent, ...options });
    this.editors.push(editor);
    return editor;
  }

  /** The same, initialized. */
  async open(agent: string, options: Partial<EditorOptions> = {}): Promise<AcpEditor> {
    const editor = this.start(agent, options);
    await editor.call('initialize', { protocolVersion: 1, clientCapabilities: {} });
    return editor;
  }

  /** An editor that the tests of a file share: it is not killed. */
  async shared(agent = this.first, which = 0): Promise<AcpEditor> {
    const key = `${agent} ${which}`;
    const known = this.kept.get(key);
    if (known) return known;
    const editor = await this.open(agent);
    this.editors.splice(this.editors.indexOf(editor), 1);
    this.kept.set(key, editor);
    return editor;
  }

  /** A new session in the editor that is shared. @param agent another one than the editor begins sessions with */
  async begin(agent = this.first): Promise<{ editor: AcpEditor; id: string; session: TestSession }> {
    const editor = await this.shared();
    if (agent === this.first) return this.beginIn(editor);
    const { workspace, system } = this;
    const { session: id } = await system.client.create({ agent: { name: agent }, workspace });
    await editor.call('session/load', { sessionId: id, cwd: workspace, mcpServers: [] });
    return { editor, id, session: system.session(id) };
  }

  /** A new session in an editor. */
  async beginIn(editor: AcpEditor): Promise<{ editor: AcpEditor; id: string; session: TestSession }> {
    const id = await editor.newSession(this.workspace);
    return { editor, id, session: this.system.session(id) };
  }

  session(id: string): TestSession {
    return this.system.session(id);
  }

  /** Ends the editors that a test opened for itself. */
  killEditors(): void {
    for (const editor of this.editors.splice(0)) editor.kill();
  }

  async stop(): Promise<void> {
    this.killEditors();
    for (const editor of this.kept.values()) editor.kill();
    await this.system.stop();
  }
}

/** A target that answers by rules. */
export const scripted = (...script: unknown[]) => ({
  provider: 'scripted',
  dialect: 'scripted' as const,
  model: 'scripted',
  script: script as never,
});

/** A rule's reply that calls tools. */
export const calls = (...toolCalls: { name: string; arguments?: unknown }[]) => ({ reply: { toolCalls } });
