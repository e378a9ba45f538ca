import type { BuiltinOptions } from './builtin/index.js';
import type { ProcessLimits } from './builtin/process-limits.js';
import type { CallLimitOptions } from './call/call-limits.js';
import type { ToolModules } from './module/tool-modules.js';
import type { Tool } from './tool/tool.js';

/** Settings of the tool runner. */
export interface ToolRunnerOptions extends CallLimitOptions, ProcessLimits, Pick<BuiltinOptions, 'httpFetch'> {
  /** Folders under which every session's workspace lies. */
  readonly workspaceRoots: readonly string[];
  /** Tools of modules, which run in threads of their own; closed with the runner. */
  readonly modules?: ToolModules;
  /** Tools beside these and the built-in ones, run as they are. */
  readonly extraTools?: readonly Tool[];
  /** Private addresses and ranges that MCP servers behind a URL may be at; default none. */
  readonly mcpAddresses?: readonly string[];
  /** Milliseconds after which an unacknowledged command is delivered again; default 30,000. */
  readonly ackWaitMs?: number;
}
