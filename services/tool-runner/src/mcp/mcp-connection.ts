import type { McpResult } from './mcp-result.js';

/** A tool as its server lists it. */
export interface McpListing {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
}

export interface McpCall {
  /** The server's own name of the tool. */
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /** Goes along in `_meta`. */
  readonly effectId: string;
  /** Aborting sends `notifications/cancelled` for this call alone. */
  readonly signal: AbortSignal;
  /** Milliseconds without progress, and milliseconds in all. */
  readonly limitMs: number;
  readonly maxMs: number;
  onProgress(text: string): void;
}

/** An open connection to one MCP server. */
export interface McpConnection {
  listTools(): Promise<McpListing[]>;
  /**
   * @throws McpDiedError when the server is gone before it answered, McpForgottenError when it did not take the call,
   * ToolError `timeout`
   */
  callTool(call: McpCall): Promise<McpResult>;
  /** Resolves when the server is gone, whoever ended it. */
  readonly closed: Promise<void>;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** The server was gone before it answered, for a reason in words: what came of the call is not known. */
export class McpDiedError extends Error {
  override readonly name = 'McpDiedError';
}

/** The server does not know the session that it gave out, as one that was started anew: it has not looked at the call. */
export class McpForgottenError extends Error {
  override readonly name = 'McpForgottenError';
}
