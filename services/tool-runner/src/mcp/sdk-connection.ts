import {
  Client,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { AgentSpec } from '@jetloop/contracts';
import { addressGuard, AddressError } from '@jetloop/platform';
import { childEnv } from '../builtin/child-env.js';
import { readThrown } from '../tool/thrown.js';
import { ToolError } from '../tool/tool-error.js';
import { guardedFetch, type GuardedFetch } from './guarded-fetch.js';
import {
  McpDiedError,
  McpForgottenError,
  type McpCall,
  type McpConnection,
  type McpListing,
} from './mcp-connection.js';
import { mcpResultSchema, type McpResult } from './mcp-result.js';
import { withSecrets } from './secret.js';
import { StdioTransport } from './stdio-transport.js';

export type McpServerConfig = AgentSpec['mcpServers'][string];

/** Milliseconds in which a server must have answered its first request. */
const START_MS = 20_000;
/** How often a server behind HTTP is asked whether it is there, while a call waits for it. */
const PING_MS = 1_500;

/**
 * Starts or reaches a server. Throws an Error in words when it cannot be had.
 * @param onListChanged told when the server's tools are others now
 */
export type ConnectMcp = (config: McpServerConfig, onListChanged: () => void) => Promise<McpConnection>;

/**
 * @param addresses private ones and ranges that a server's URL may lead to all the same
 * @throws RangeError when one is no address
 */
export function mcpConnector(addresses: readonly string[]): ConnectMcp {
  const fetch = guardedFetch(addressGuard(addresses));
  return async (config, onListChanged) => connectOver(await transportTo(config, fetch), onListChanged);
}

async function connectOver(transport: Transport, onListChanged: () => void): Promise<McpConnection> {
  const client = new Client({ name: 'jetloop', version: '0.1.0' }, { capabilities: {} });
  client.setNotificationHandler('notifications/tools/list_changed', onListChanged);
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  try {
    await client.connect(transport, { timeout: START_MS });
  } catch (error) {
    await transport.close();
    const complaint = transport instanceof StdioTransport ? transport.complaint : '';
    throw new Error([wordsOf(error), complaint].filter((part) => part !== '').join(': '), { cause: error });
  }
  return new SdkConnection(client, transport, closed);
}

async function transportTo(config: McpServerConfig, fetch: GuardedFetch): Promise<Transport> {
  if ('url' in config) {
    const headers = await withSecrets(config.headers, process.env);
    return new StreamableHTTPClientTransport(new URL(config.url), {
      fetch,
      requestInit: { headers },
      reconnectionOptions: {
        maxRetries: 1,
        initialReconnectionDelay: 200,
        maxReconnectionDelay: 1_000,
        reconnectionDelayGrowFactor: 2,
      },
    });
  }
  const env = { ...childEnv(process.env), ...(await withSecrets(config.env, process.env)) };
  return new StdioTransport({ command: config.command, args: config.args, env });
}

class SdkConnection implements McpConnection {
  constructor(
    private readonly client: Client,
    private readonly transport: Transport,
    readonly closed: Promise<void>,
  ) {}

  async listTools(): Promise<McpListing[]> {
    const { tools } = await this.client.listTools(undefined, { timeout: START_MS });
    return tools.map(({ name, description = '', inputSchema }) => ({ name, description, inputSchema }));
  }

  async callTool(call: McpCall): Promise<McpResult> {
    const stopWatching = this.transport instanceof StdioTransport ? undefined : this.#watch();
    try {
      const result: unknown = await this.client.callTool(
        { name: call.name, arguments: call.arguments, _meta: { 'jetloop/effect-id': call.effectId } },
        {
          signal: call.signal,
          timeout: call.limitMs,
          maxTotalTimeout: call.maxMs,
          resetTimeoutOnProgress: true,
          onprogress: ({ message, progress, total }) => {
            call.onProgress(message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`);
          },
        },
      );
      return mcpResultSchema.parse(result);
    } catch (error) {
      if (isOverdue(error)) throw overdue(call);
      if (this.#isForgotten(error)) throw new McpForgottenError('knows its session no more', { cause: error });
      throw isGone(error) ? new McpDiedError(this.#endOf(), { cause: error }) : error;
    } finally {
      stopWatching?.();
    }
  }

  /** A request with a session that the server does not have is answered 404; some say 400. */
  #isForgotten(error: unknown): boolean {
    if (!(this.transport instanceof StreamableHTTPClientTransport) || this.transport.sessionId === undefined)
      return false;
    return error instanceof SdkHttpError && [400, 404].includes(error.status);
  }

  #endOf(): string {
    const isOverflow = this.transport instanceof StdioTransport && this.transport.isOverflow;
    return isOverflow ? 'sent more in one message than is taken, and was ended' : 'ended before it answered';
  }

  async close(): Promise<void> {
    await this.client.close();
    // The client's own close does not wait for what the server started.
    await this.transport.close();
  }

  /** A stream that breaks off ends no call by itself: the server is asked, and a connection without one is closed. */
  #watch(): () => void {
    let isOver = false;
    const timer = setInterval(() => {
      this.client.ping({ timeout: PING_MS }).catch((error: unknown) => {
        // One that is only busy is still there.
        if (!isOver && !isOverdue(error)) void this.client.close();
      });
    }, PING_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }
}

/** What a connection failed with, in words; an address that is not allowed lies below what the client threw. */
function wordsOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof AddressError && cause.code === 'address_refused')
      return `${cause.message}: JETLOOP_MCP_ADDRESSES does not list it`;
  return readThrown(error).message;
}

function isOverdue(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

function overdue({ name, limitMs, maxMs }: McpCall): ToolError {
  const limits = `${limitMs} ms without progress, ${maxMs} ms in all`;
  return new ToolError('timeout', `${name} took longer than its limit of ${limits}.`);
}

function isGone(error: unknown): boolean {
  if (!(error instanceof SdkError)) return error instanceof TypeError && error.message.includes('fetch failed');
  const { ConnectionClosed, NotConnected, SendFailed } = SdkErrorCode;
  return [ConnectionClosed, NotConnected, SendFailed].includes(error.code);
}
