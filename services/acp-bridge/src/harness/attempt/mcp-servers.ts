import type { AgentSpec, Json } from '@jetloop/contracts';
import { resolveSecret } from '../process/agent-env.js';
import type { Secrets } from '../process/secrets.js';
import { harness } from './harness-failure.js';

/** The MCP servers that a harness names, as the protocol has them. @throws HarnessFailure, MissingSecretError */
export async function mcpServersOf(agent: AgentSpec, own: NodeJS.ProcessEnv, secrets: Secrets): Promise<Json[]> {
  const pairs = (values: Readonly<Record<string, string>>) => pairsOf(values, own, secrets);
  const names = agent.harness?.mcpServers ?? [];
  return Promise.all(
    names.map(async (name): Promise<Json> => {
      const server = agent.mcpServers[name];
      if (!server)
        throw harness('unknown_mcp_server', `The harness names the MCP server ${name}, which the agent does not have.`);
      if ('url' in server) return { type: 'http', name, url: server.url, headers: await pairs(server.headers) };
      return { name, command: server.command, args: server.args, env: await pairs(server.env) };
    }),
  );
}

function pairsOf(values: Readonly<Record<string, string>>, own: NodeJS.ProcessEnv, secrets: Secrets): Promise<Json[]> {
  return Promise.all(
    Object.entries(values).map(async ([name, value]) => {
      return { name, value: await resolveSecret(name, value, own, secrets) };
    }),
  );
}
