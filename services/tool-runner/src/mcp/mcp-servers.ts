import { createHash } from 'node:crypto';
import { canonicalJson } from '../tool/canonical-json.js';
import { readThrown } from '../tool/thrown.js';
import type { Tool } from '../tool/tool.js';
import { mayBelongTo } from './fit-name.js';
import { McpServer } from './mcp-server.js';
import { mcpTool } from './mcp-tool.js';
import type { ConnectMcp, McpServerConfig } from './sdk-connection.js';

/** Whose servers are asked for. */
export interface McpOwner {
  readonly tenant: string;
  readonly session: string;
  readonly servers: Readonly<Record<string, McpServerConfig>>;
}

interface Kept {
  readonly server: McpServer;
  usedAt: number;
}

/** A server that nobody used for so long is ended; it starts again when it is needed. */
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;

/**
 * The MCP servers of this runner. The sessions of a tenant share one that is configured the same, unless it is `perSession`.
 */
export class McpServers {
  readonly #kept = new Map<string, Kept>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(private readonly connect: ConnectMcp) {
    this.#sweeper = setInterval(() => {
      this.#sweep();
    }, SWEEP_MS);
    this.#sweeper.unref();
  }

  /** The tools of all servers that can be had, and why the others cannot. */
  async list(owner: McpOwner): Promise<{ tools: Tool[]; unavailable: { name: string; reason: string }[] }> {
    const asked = Object.entries(owner.servers).map(async ([name, config]) => {
      try {
        return { tools: await this.#toolsOf(owner, name, config), unavailable: [] };
      } catch (error) {
        return { tools: [], unavailable: [{ name, reason: readThrown(error).message }] };
      }
    });
    const answers = await Promise.all(asked);
    return {
      tools: answers.flatMap(({ tools }) => tools),
      unavailable: answers.flatMap(({ unavailable }) => unavailable),
    };
  }

  /** The tool of a public name. @throws ToolError `mcp_unavailable` when the server that has it cannot be had */
  async find(owner: McpOwner, name: string): Promise<Tool | undefined> {
    for (const [server, config] of Object.entries(owner.servers)) {
      if (!mayBelongTo(server, name)) continue;
      const found = (await this.#toolsOf(owner, server, config)).find((tool) => tool.name === name);
      if (found) return found;
    }
    return undefined;
  }

  /** Ends all servers, with all that they started. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    const kept = [...this.#kept.values()];
    this.#kept.clear();
    await Promise.all(kept.map(({ server }) => server.close()));
  }

  async #toolsOf(owner: McpOwner, name: string, config: McpServerConfig): Promise<Tool[]> {
    const server = this.#serverOf(owner, name, config);
    const readonlyTools = new Set(config.readonlyTools);
    const listings = await server.tools();
    return listings.map((listing) =>
      mcpTool(server, { server: name, listing, readonly: readonlyTools.has(listing.name) }),
    );
  }

  #serverOf({ tenant, session }: McpOwner, name: string, config: McpServerConfig): McpServer {
    const digest = createHash('sha256').update(canonicalJson(config)).digest('hex');
    const key = [tenant, name, digest, ...(config.perSession ? [session] : [])].join('.');
    const kept = this.#kept.get(key) ?? { server: this.#create(name, config), usedAt: 0 };
    kept.usedAt = Date.now();
    this.#kept.set(key, kept);
    return kept.server;
  }

  #create(name: string, config: McpServerConfig): McpServer {
    const connect = (onListChanged: () => void) => this.connect(config, onListChanged);
    return new McpServer({ name, connect, now: () => performance.now() });
  }

  #sweep(): void {
    for (const [key, { server, usedAt }] of this.#kept) {
      if (Date.now() - usedAt < IDLE_MS || server.isBusy) continue;
      this.#kept.delete(key);
      void server.close();
    }
  }
}
