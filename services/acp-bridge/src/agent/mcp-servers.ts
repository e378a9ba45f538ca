import type { McpServer } from '@agentclientprotocol/sdk';
import type { JetloopClient } from '@jetloop/client';
import { TOKEN_PATTERN, type AgentSpec } from '@jetloop/contracts';
import { invalidParams } from './request-error.js';

type Agent = { readonly name: string } | { readonly spec: AgentSpec };

/**
 * The agent with an editor's MCP servers beside its own. That is a spec of its own, which the services take only where they
 * allow inline specs.
 * @throws RequestError -32602 for a server that cannot be had
 */
export async function withMcpServers(
  agent: Agent,
  servers: readonly McpServer[],
  client: Pick<JetloopClient, 'agent'>,
): Promise<Agent> {
  if (servers.length === 0) return agent;
  const spec = 'spec' in agent ? agent.spec : await client.agent(agent.name);
  if (!spec) return agent; // Its create says that there is no such agent.
  const own = Object.fromEntries(servers.map((server) => [nameOf(server, spec), specOf(server)]));
  return { spec: { ...spec, mcpServers: { ...spec.mcpServers, ...own } } };
}

function nameOf({ name }: McpServer, spec: AgentSpec): string {
  if (!TOKEN_PATTERN.test(name))
    throw invalidParams(`mcpServers: the name ${JSON.stringify(name)} must be 1 to 64 of A-Z, a-z, 0-9, "_" and "-"`);
  if (Object.hasOwn(spec.mcpServers, name))
    throw invalidParams(`mcpServers: the agent ${spec.name} has a server ${name} of its own`);
  return name;
}

function specOf(server: McpServer): AgentSpec['mcpServers'][string] {
  const common = { perSession: true, readonlyTools: [] };
  if (!('type' in server)) return { command: server.command, args: server.args, env: pairs(server.env), ...common };
  if (server.type === 'http') return { url: server.url, headers: pairs(server.headers), ...common };
  throw invalidParams(`mcpServers: ${server.name}: expected stdio or http, got ${server.type}`);
}

function pairs(list: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
