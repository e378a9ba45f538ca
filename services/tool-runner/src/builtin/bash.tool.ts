import { realpath } from 'node:fs/promises';
import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import { OUTPUT_LIMIT } from '../tool/cut-output.js';
import { OutputCollector } from '../tool/output-collector.js';
import type { ToolFailure } from '../tool/tool.js';
import type { Workspace } from '../tool/workspace.js';
import { childEnv } from './child-env.js';
import { LiveOutput } from './live-output.js';
import { limitWords, type ProcessLimits } from './process-limits.js';
import { runProcess, type ProcessEnd } from './run-process.js';
import { sandboxWords } from './sandbox.js';

const MAX_TIMEOUT_MS = 600_000;
const GRACE_MS = 3000;
const ROOM_FOR_LAST_LINE = 256;

/**
 * Both streams go through one real pipe, so that their order is kept and /dev/stdout can be opened (Node's own pipes are sockets). The
 * process behind the pipe outlasts SIGTERM, for the last words of a command that is ended; it goes when the writers are gone. It
 * stands outside the sandbox, whose processes all die with the command.
 */
const WRAPPER = 'exec > >(trap "" TERM; exec cat) 2>&1; exec "$@"';

export interface BashOptions extends ProcessLimits {
  /** Folders under which workspaces lie: a sandboxed command sees its own alone. */
  readonly workspaceRoots?: readonly string[];
}

/** @throws ToolError `sandbox_unavailable`, where the agent asks for a sandbox that cannot be had */
export const createBashTool = (options: BashOptions = {}) =>
  defineTool({
    name: 'bash',
    description:
      'Runs a command with bash in the workspace. Standard input is closed. Gives the output (both streams in order) and the exit code. Background processes are ended with the command.',
    input: z.object({
      command: z.string().min(1).max(100_000),
      workdir: z.string().default('.').describe('Folder to run in, in the workspace'),
      timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).default(120_000).describe('Limit in milliseconds'),
    }),
    timeoutMs: MAX_TIMEOUT_MS + 10_000,
    async run({ command, workdir, timeoutMs }, ctx) {
      const collector = new OutputCollector({
        limit: OUTPUT_LIMIT - ROOM_FOR_LAST_LINE,
        hint: 'Write the output to a file and page it with read_file, or filter it',
        openSink: ctx.openSink?.bind(ctx),
      });
      const live = new LiveOutput((text) => {
        ctx.progress(text);
      });
      const before = [
        ...(await limitWords(options, timeoutMs)),
        ...(ctx.sandbox === 'none' ? [] : await sandboxWords(await folderOf(ctx.workspace, workdir, options))),
      ];
      const end = await ctx.workspace.withDirectory(workdir, {}, ({ path }) =>
        runProcess({
          file: 'bash',
          args: ['-c', WRAPPER, 'bash', ...before, 'bash', '-c', command],
          cwd: path,
          env: childEnv(process.env),
          signal: ctx.signal,
          timeoutMs,
          graceMs: GRACE_MS,
          onOutput(chunk) {
            live.write(chunk);
            return collector.write(chunk);
          },
        }),
      );
      live.end();
      const { text, truncated, binary, totalBytes, whole } = await collector.finish();
      const { exitCode, signal } = end;
      const error = failureOf(end);
      return {
        content: `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lastLine(end, timeoutMs)}`,
        output: { exitCode, signal, truncated, binary, totalBytes, ...(whole === undefined ? {} : { whole }) },
        ...(error === undefined ? {} : { error }),
      };
    },
  });

export const bashTool = createBashTool();

async function folderOf(workspace: Workspace, workdir: string, { workspaceRoots = [] }: BashOptions) {
  const real = await Promise.all(workspaceRoots.map((root) => realpath(root).catch(() => undefined)));
  const hidden = real.filter((root) => root !== undefined);
  return { root: workspace.root, workdir: await workspace.resolve(workdir), hidden };
}

function failureOf({ endedBy, exitCode }: ProcessEnd): ToolFailure | undefined {
  if (endedBy !== undefined) return { name: 'CommandEnded', code: endedBy };
  return exitCode === 0 ? undefined : { name: 'CommandFailed', code: 'exit_code' };
}

function lastLine({ endedBy, exitCode, signal }: ProcessEnd, timeoutMs: number): string {
  if (endedBy === undefined) return exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${exitCode}`;
  switch (endedBy) {
    case 'timeout':
      return `ended after its limit of ${timeoutMs} ms`;
    case 'aborted':
      return 'ended because the call was cancelled';
    case 'output_limit':
      return 'ended because it wrote too much output';
  }
}
