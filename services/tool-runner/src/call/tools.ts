import { isControlTool, type AgentSpec } from '@jetloop/contracts';
import type { McpServers } from '../mcp/mcp-servers.js';
import type { ToolRegistry } from '../tool/tool-registry.js';
import type { Tool } from '../tool/tool.js';
import { controlTool } from '../tool/control-tool.js';

/** Who asks for tools, and what it may have. */
export interface Asker {
  readonly tenant: string;
  readonly session: string;
  /** Names, `*` for all but the loop's own, and `<server>__*` for all of an MCP server. */
  readonly tools: readonly string[];
  readonly servers: AgentSpec['mcpServers'];
}

/** All tools of this runner: its own, and those of an agent's MCP servers. */
export class Tools {
  constructor(
    private readonly registry: ToolRegistry,
    private readonly mcp: McpServers,
  ) {}

  /** What the asker may have, sorted by name, and what it asked for that is not there. */
  async list(asker: Asker): Promise<{ tools: Tool[]; unavailable: { name: string; reason: string }[] }> {
    const own = [...this.registry.tools(), ...asker.tools.filter(isControlTool).map(controlTool)];
    const mcp = await this.mcp.list(asker);
    const taken = new Set(own.map(({ name }) => name));
    const [shadowed, free] = partition(mcp.tools, ({ name }) => taken.has(name));
    const all = [...own, ...free].filter(({ name }) => mayUse(asker.tools, name));
    const known = new Set([...own, ...free].map(({ name }) => name));
    const absent = asker.tools.filter((name) => !name.endsWith('*') && !known.has(name));
    return {
      tools: all.sort((a, b) => (a.name < b.name ? -1 : 1)),
      unavailable: [
        ...absent.map((name) => ({ name, reason: 'this runner has no tool of that name' })),
        ...mcp.unavailable,
        ...shadowed.map(({ name }) => ({ name, reason: 'the runner has a tool of its own of that name' })),
      ],
    };
  }

  /** The tool of a name, if the asker may have it. @throws ToolError `mcp_unavailable` */
  async find(asker: Asker, name: string): Promise<Tool | undefined> {
    if (!mayUse(asker.tools, name)) return undefined;
    return this.registry.get(name) ?? (await this.mcp.find(asker, name));
  }
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

function mayUse(tools: readonly string[], name: string): boolean {
  if (tools.includes(name)) return true;
  if (isControlTool(name)) return false;
  return tools.some((wanted) => wanted === '*' || (wanted.endsWith('__*') && name.startsWith(wanted.slice(0, -1))));
}
