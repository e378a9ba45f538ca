import type { Tool } from './tool/tool.js';

/** Settings of the tool runner. */
export interface ToolRunnerOptions {
  /** Folders under which every session's workspace lies. */
  readonly workspaceRoots: readonly string[];
  /** Tools beside the built-in ones. */
  readonly extraTools?: readonly Tool[];
  /** Milliseconds after which an unacknowledged command is delivered again; default 30,000. */
  readonly ackWaitMs?: number;
}
