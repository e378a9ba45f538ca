import { cutText } from './cut-output.js';
import { WHOLE_LIMIT } from './output-collector.js';
import { Stop } from './stop.js';
import { readThrown } from './thrown.js';
import { ToolError } from './tool-error.js';
import { checkReturn, type CheckedReturn } from './tool-result.js';
import type { Tool, ToolContext } from './tool.js';
import { errnoOf } from './workspace-error.js';

/** Limit of one run in milliseconds where neither caller nor tool names one. */
export const DEFAULT_TIMEOUT_MS = 120_000;
const MESSAGE_LIMIT = 8 * 1024;

export interface RunOptions {
  /** Milliseconds; goes before the tool's own limit. */
  timeoutMs?: number;
  /** Aborts when the service stops and waits no longer. */
  stopping?: AbortSignal;
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
  const stop = new Stop(tool.name, { cancel: ctx.signal, stopping: options.stopping, timeoutMs });
  let result: CheckedReturn;
  try {
    const early = stop.reason();
    if (early) throw early;
    const run = attempt(tool, args, { ...ctx, signal: stop.signal });
    const answer = await Promise.race([run, stop.overdue]);
    const reason = stop.reason();
    result = answer && !reason ? answer : withStop(answer, reason, ctx);
  } catch (error) {
    result = failed(stop.reason() ?? error, ctx);
  } finally {
    stop.release();
  }
  return { ...result, durationMs: Math.round(performance.now() - started) };
}

async function attempt(tool: Tool, args: Record<string, unknown>, ctx: ToolContext): Promise<CheckedReturn> {
  const { checked, cut } = checkReturn(await tool.run(args, ctx));
  // A tool that has an output for programs says itself where the whole is.
  if (cut.length === 0 || checked.output !== undefined) return checked;
  const output = await keepWhole(cut, ctx);
  return { ...checked, ...(output ? { output } : {}) };
}

/** Puts the texts that the model gets a part of where the outputs of commands are kept. */
async function keepWhole(texts: readonly string[], ctx: ToolContext): Promise<CheckedReturn['output']> {
  const bytes = Buffer.from(texts.join('\n'));
  const sink = bytes.length > WHOLE_LIMIT ? undefined : ctx.openSink?.();
  if (!sink) return undefined;
  await sink.write(bytes);
  const whole = await sink.end();
  return whole === undefined ? undefined : { truncated: true, totalBytes: bytes.length, whole };
}

/** A stopped tool may still tell how far it came. */
function withStop(answer: CheckedReturn | undefined, stop: ToolError | undefined, ctx: ToolContext): CheckedReturn {
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
