import type { Tool, ToolReturn } from '../tool/tool.js';
import { ToolError } from '../tool/tool-error.js';
import { fitName } from './fit-name.js';
import { McpDiedError, type McpListing } from './mcp-connection.js';
import { toolReturnOf } from './mcp-result.js';
import type { McpServer } from './mcp-server.js';

/** What progress can extend a call to, in milliseconds. */
const LONGEST_MS = 600_000;

export interface McpToolFacts {
  readonly server: string;
  readonly listing: McpListing;
  /** The operator's word, not the server's: its annotations are hints. */
  readonly readonly: boolean;
}

/** A server's tool as a tool of the runner. Its arguments are checked by the server. */
export function mcpTool(server: McpServer, { server: name, listing, readonly }: McpToolFacts): Tool {
  return {
    name: fitName(name, listing.name),
    description: listing.description,
    inputSchema: listing.inputSchema,
    readonly,
    idempotent: readonly,
    longestMs: LONGEST_MS,
    fit: (args) => ({ ok: true, value: args }),
    async run(args, ctx): Promise<ToolReturn> {
      try {
        const { effectId, signal, limitMs } = ctx;
        const result = await server.call({
          ...{ name: listing.name, arguments: args, effectId, signal, limitMs, maxMs: LONGEST_MS },
          onProgress: (text) => {
            ctx.progress(text);
          },
        });
        return toolReturnOf(result);
      } catch (error) {
        if (!(error instanceof McpDiedError)) throw error;
        throw new ToolError(
          'outcome_unknown',
          `The MCP server ${name} ${error.message}: it is not known what came of this call. Look before you try it again.`,
        );
      }
    },
  };
}
