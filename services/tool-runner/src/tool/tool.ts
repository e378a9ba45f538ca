import type { OutputSink } from './output-collector.js';
import type { Workspace } from './workspace.js';

export type ToolBlock =
  | { type: 'text'; text: string }
  | { type: 'json'; value: unknown }
  | { type: 'image'; mediaType: string; base64: string }
  | { type: 'resource'; uri: string; mediaType?: string; text?: string };

export interface ToolFailure {
  name: string;
  code: string;
}

/** What a tool may hand back: text, blocks, or both with a JSON `output` for programs and a verdict. */
export type ToolReturn =
  string | ToolBlock[] | { content: string | ToolBlock[]; output?: unknown; isError?: boolean; error?: ToolFailure };

export interface ToolLog {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
}

export interface ToolContext {
  tenant: string;
  session: string;
  callId: string;
  /** The same for every run of the same call: a tool may use it as an idempotency key. */
  effectId: string;
  workspace: Workspace;
  /** What the agent asks for: a tool that runs programs, or reaches out, heeds it or refuses. */
  sandbox: 'none' | 'bubblewrap';
  /** Aborted at cancel and at the time limit. */
  signal: AbortSignal;
  /** Milliseconds that the call may take; a tool with `longestMs` may go on while it reports progress. */
  limitMs: number;
  /** Live only, may be lost: nothing may depend on it. */
  progress(text: string): void;
  log: ToolLog;
  /** Where output too long for the model is kept whole; without it, only head and tail remain. */
  openSink?(): OutputSink;
}

/** The outcome of checking arguments against the tool's schema. */
export type Fit = { ok: true; value: Record<string, unknown> } | { ok: false; message: string };

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments, for the model. */
  readonly inputSchema: Record<string, unknown>;
  readonly readonly: boolean;
  readonly idempotent: boolean;
  readonly timeoutMs?: number;
  /** Milliseconds that a call may take in all where progress extends its limit; the tool itself sees to the limit then. */
  readonly longestMs?: number;
  fit(args: Record<string, unknown>): Fit;
  /** Throws {@link ToolError} `invalid_arguments` where {@link Tool.fit} would have refused. */
  run(args: Record<string, unknown>, ctx: ToolContext): Promise<ToolReturn>;
}
