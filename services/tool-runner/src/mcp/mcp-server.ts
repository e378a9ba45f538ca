import { readThrown } from '../tool/thrown.js';
import { ToolError } from '../tool/tool-error.js';
import { McpForgottenError, type McpCall, type McpConnection, type McpListing } from './mcp-connection.js';
import type { McpResult } from './mcp-result.js';

/** Failures in a row after which a server is left alone. */
export const MAX_FAILURES = 10;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A connection that lasted this long was none of the failures in a row. */
const STEADY_MS = 60_000;

export interface McpServerOptions {
  readonly name: string;
  connect(onListChanged: () => void): Promise<McpConnection>;
  readonly now: () => number;
}

/**
 * One MCP server, started when it is first needed. After its first failure it is started again at once when it is needed, then
 * after a pause that grows; after {@link MAX_FAILURES} in a row it is withdrawn, until the runner starts anew or its configuration changes.
 */
export class McpServer {
  #connection: Promise<McpConnection> | undefined;
  /** The one that `#connection` came to. */
  #live: McpConnection | undefined;
  #tools: Promise<readonly McpListing[]> | undefined;
  #failures = 0;
  #calls = 0;
  #restartAt = 0;
  #lastProblem = '';
  #isClosed = false;

  constructor(private readonly options: McpServerOptions) {}

  /** Its tools; asked for once, and again when it says that they changed. @throws ToolError `mcp_unavailable` */
  async tools(): Promise<readonly McpListing[]> {
    const connection = await this.#connected();
    this.#tools ??= this.#list(connection);
    return this.#tools;
  }

  /** @throws ToolError `mcp_unavailable` before anything was sent; McpDiedError; what the server answered */
  async call(call: McpCall): Promise<McpResult> {
    this.#calls += 1;
    try {
      const result = await this.#callOnce(call).catch((error: unknown) => {
        // It was started anew and has not looked at the call: with a session of its own it does.
        if (error instanceof McpForgottenError) return this.#callOnce(call);
        throw error;
      });
      this.#failures = 0;
      return result;
    } finally {
      this.#calls -= 1;
    }
  }

  async #callOnce(call: McpCall): Promise<McpResult> {
    const connection = await this.#connected();
    try {
      return await connection.callTool(call);
    } catch (error) {
      if (error instanceof McpForgottenError && this.#live === connection) {
        this.#lost(undefined);
        void connection.close();
      }
      throw error;
    }
  }

  get isBusy(): boolean {
    return this.#calls > 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close();
  }

  async #connected(): Promise<McpConnection> {
    if (!this.#connection) {
      this.#mayStart();
      this.#connection = this.#start();
    }
    return this.#connection;
  }

  async #start(): Promise<McpConnection> {
    try {
      const connection = await this.options.connect(() => {
        this.#tools = undefined;
      });
      const since = this.options.now();
      this.#live = connection;
      void connection.closed.then(() => {
        // One that was given up counted when it was.
        if (this.#live !== connection) return;
        if (this.options.now() - since > STEADY_MS) this.#failures = 0;
        this.#lost(this.#isClosed ? undefined : 'it ended');
      });
      return connection;
    } catch (error) {
      const { message } = readThrown(error);
      this.#lost(message);
      throw this.#unavailable(message);
    }
  }

  #mayStart(): void {
    if (this.#isClosed) throw this.#unavailable('the runner stops');
    if (this.#failures >= MAX_FAILURES)
      throw this.#unavailable(`withdrawn after ${MAX_FAILURES} failures in a row, the last: ${this.#lastProblem}`);
    if (this.options.now() < this.#restartAt)
      throw this.#unavailable(`it failed (${this.#lastProblem}) and is started again in a moment`);
  }

  async #list(connection: McpConnection): Promise<readonly McpListing[]> {
    try {
      const listed = await connection.listTools();
      // A name that is listed twice is one tool: which of the two a call means only the server knows.
      return listed.filter(({ name }, index) => listed.findIndex((other) => other.name === name) === index);
    } catch (error) {
      const { message } = readThrown(error);
      if (this.#live === connection) this.#giveUp(connection, message);
      throw this.#unavailable(message);
    }
  }

  /** A server that cannot list its tools is ended, unless it is at a call: then it is only asked again. */
  #giveUp(connection: McpConnection, problem: string): void {
    this.#tools = undefined;
    if (this.isBusy) this.#count(problem);
    else {
      this.#lost(problem);
      void connection.close();
    }
  }

  /** The connection is gone; a problem counts as a failure. */
  #lost(problem: string | undefined): void {
    this.#connection = undefined;
    this.#live = undefined;
    this.#tools = undefined;
    if (problem !== undefined) this.#count(problem);
  }

  #count(problem: string): void {
    this.#lastProblem = problem.slice(0, 300);
    const pause = this.#failures === 0 ? 0 : FIRST_PAUSE_MS * 2 ** (this.#failures - 1);
    this.#restartAt = this.options.now() + Math.min(LONGEST_PAUSE_MS, pause);
    this.#failures += 1;
  }

  #unavailable(why: string): ToolError {
    return new ToolError('mcp_unavailable', `The MCP server ${this.options.name} cannot be used: ${why}.`);
  }
}
