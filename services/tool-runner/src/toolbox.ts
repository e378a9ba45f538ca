import { randomUUID } from 'node:crypto';
import type { AgentSpec } from '@jetloop/contracts';
import { Tools } from './call/tools.js';
import type { ToolRunnerSettings } from './config.js';
import { McpServers } from './mcp/mcp-servers.js';
import { mcpConnector } from './mcp/sdk-connection.js';
import { ownTools } from './own-tools.js';
import { runTool, type ToolResult } from './tool/run-tool.js';
import { listingOf, type ToolListing } from './tool/tool-registry.js';
import { Workspace } from './tool/workspace.js';

export interface ToolboxOptions {
  /** The folder that tools work in. */
  readonly workspace: string;
  readonly agent: Pick<AgentSpec, 'tools' | 'mcpServers' | 'readonly' | 'sandbox' | 'deadlines'>;
  /** What its runner would be set to; default: nothing. */
  readonly settings?: ToolRunnerSettings;
}

/** The tools of an agent without any service: no session, no log, and no ledger of effects. */
export interface Toolbox {
  list(): Promise<{ tools: ToolListing[]; unavailable: { name: string; reason: string }[] }>;
  /** Undefined: the agent has no tool of that name. */
  call(
    name: string,
    args: Record<string, unknown>,
    onProgress: (text: string) => void,
  ): Promise<ToolResult | undefined>;
  /** Ends what MCP servers and threads were started. */
  close(): Promise<void>;
}

/** @throws WorkspaceError */
export async function openToolbox({ workspace, agent, settings = {} }: ToolboxOptions): Promise<Toolbox> {
  const registry = ownTools(settings);
  const mcp = new McpServers(mcpConnector(settings.mcpAddresses ?? []));
  const tools = new Tools(registry, mcp);
  const folder = await Workspace.open(workspace);
  const asker = { tenant: 'local', session: randomUUID(), tools: agent.tools, servers: agent.mcpServers };
  return {
    list: async () => {
      const found = await tools.list(asker);
      const usable = found.tools.filter((tool) => tool.readonly || !agent.readonly);
      return { tools: usable.map(listingOf), unavailable: found.unavailable };
    },
    call: async (name, args, onProgress) => {
      const tool = await tools.find(asker, name);
      if (!tool || (agent.readonly && !tool.readonly)) return undefined;
      const limitMs = Math.min(tool.timeoutMs ?? Infinity, agent.deadlines.tool);
      return runTool(
        tool,
        args,
        {
          ...{ tenant: asker.tenant, session: asker.session, callId: 'call', effectId: `local.${asker.session}.1.1.0` },
          ...{ workspace: folder, sandbox: agent.sandbox, limitMs, progress: onProgress },
          signal: new AbortController().signal,
          log: { info: () => undefined, warn: () => undefined },
        },
        { timeoutMs: Math.max(limitMs, tool.longestMs ?? 0) },
      );
    },
    close: async () => {
      await Promise.all([mcp.close(), settings.modules?.close()]);
    },
  };
}
