import { setTimeout as sleep } from 'node:timers/promises';
import { cutText } from './cut-output.js';
import { readThrown } from './thrown.js';
import { ToolError } from './tool-error.js';
import { checkReturn, type CheckedReturn } from './tool-result.js';
import type { Tool, ToolContext } from './tool.js';
import { errnoOf } from './workspace-error.js';

/** Limit of one run in milliseconds where neither caller nor tool names one. */
export const DEFAULT_TIMEOUT_MS = 120_000;
/** What a tool gets after the abort to clean up (the grace of a process group is 3 s) before its answer is no longer awaited. */
const CLEAN_UP_MS = 5_000;
const MESSAGE_LIMIT = 8 * 1024;

export interface RunOptions {
  /** Milliseconds; goes before the tool's own limit. */
  timeoutMs?: number;
}

export interface ToolResult extends CheckedReturn {
  durationMs: number;
}

/** Runs a tool to a result, whatever it does: a throw, a misfit, the time limit and the abort are error results, never a throw. */
export async function runTool(
  tool: Tool,
  args: Record<string, unknown>,
  ctx: ToolContext,
  options: RunOptions = {},
): Promise<ToolResult> {
  const started = performance.now();
  const timeoutMs = options.timeoutMs ?? tool.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const limit = new AbortController();
  const timer = setTimeout(() => {
    limit.abort();
  }, timeoutMs);
  const signal = AbortSignal.any([ctx.signal, limit.signal]);
  const settled = new AbortController();
  // Which came first is noted at the event: both signals may be aborted when the tool answers.
  let first: ToolError | undefined;
  const stop = () => first;
  const onAbort = () => {
    first ??= ctx.signal.aborted
      ? new ToolError('aborted', `${tool.name} was cancelled before it ended.`)
      : new ToolError('timeout', `${tool.name} took longer than its limit of ${timeoutMs} ms.`);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();

  let result: CheckedReturn;
  try {
    const early = stop();
    if (early) throw early;
    const run = attempt(tool, args, { ...ctx, signal });
    const answer = await Promise.race([run, whenStopped(signal, settled.signal)]);
    const reason = stop();
    result = answer && !reason ? answer : withStop(answer, reason ?? new ToolError('timeout', 'no answer'), ctx);
  } catch (error) {
    result = failed(stop() ?? error, ctx);
  } finally {
    clearTimeout(timer);
    settled.abort();
    signal.removeEventListener('abort', onAbort);
  }
  return { ...result, durationMs: Math.round(performance.now() - started) };
}

const attempt = async (tool: Tool, args: Record<string, unknown>, ctx: ToolContext) =>
  checkReturn(await tool.run(args, ctx));

/** Ends, without an answer, when the time to clean up after an abort is over. */
async function whenStopped(signal: AbortSignal, settled: AbortSignal): Promise<undefined> {
  await new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', resolve, { once: true, signal: settled });
  });
  // Cut short when the tool has answered: then nobody waits for this any more.
  await sleep(CLEAN_UP_MS, undefined, { signal: settled }).catch(() => undefined);
  return undefined;
}

/** A stopped tool may still tell how far it came. */
function withStop(answer: CheckedReturn | undefined, stop: ToolError, ctx: ToolContext): CheckedReturn {
  const end = failed(stop, ctx);
  return answer ? { ...answer, ...end, content: [...answer.content, ...end.content] } : end;
}

function failed(thrown: unknown, ctx: ToolContext): CheckedReturn {
  const { name, code, message } = describe(thrown);
  const text = cutText(ctx.workspace.scrub(message), { limit: MESSAGE_LIMIT }).text;
  return { content: [{ type: 'text', text: `Error (${code}): ${text}` }], isError: true, error: { name, code } };
}

function describe(thrown: unknown): { name: string; code: string; message: string } {
  const { name, message, code = 'tool_failed' } = readThrown(thrown);
  if (thrown instanceof ToolError) return { name, code, message };
  // "ENOENT: no such file or directory, open '/srv/…'": all but the host's path.
  if (errnoOf(thrown) !== undefined) return { name, code, message: message.replace(/, \w+( '.*)?$/s, '') };
  return { name, code, message: withoutHome(message) };
}

/** The program's own folder tells where it is installed (as in "Cannot find module '/opt/…'"). */
function withoutHome(message: string): string {
  const home = process.cwd();
  return home === '/' ? message : message.replaceAll(home, '…');
}
