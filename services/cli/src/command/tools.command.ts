import { resolve } from 'node:path';
import { agentSpecSchema, textOf } from '@jetloop/contracts';
import { openToolbox, type Toolbox } from '@jetloop/tool-runner';
import { z } from 'zod';
import { loadAgent } from '../agent/load-agent.js';
import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { loadToolSettings } from '../input/load-service-settings.js';
import { renderTable } from '../render/table.js';
import { UsageError } from '../usage-error.js';

export interface ToolsOptions {
  readonly agent?: string | undefined;
  readonly module?: readonly string[] | undefined;
  readonly workspace?: string | undefined;
  readonly json?: boolean | undefined;
}

/** `jetloop tools list`: what an agent would be offered, and which of its servers cannot be had. */
export async function toolsListCommand(options: ToolsOptions, io: CommandIo): Promise<ExitCode> {
  const { tools, unavailable } = await withToolbox(options, io, (toolbox) => toolbox.list());
  if (options.json === true) writeJson(io, { tools, unavailable });
  else {
    const rows = tools.map(({ name, readonly, description }) => [
      name,
      readonly ? 'readonly' : '',
      firstLine(description),
    ]);
    renderTable({ columns: ['tool', '', 'what it does'], rows }, io.out);
    for (const { name, reason } of unavailable) io.err.write(`${name}: ${reason}\n`);
  }
  return EXIT.completed;
}

/** `jetloop tools call`: one call, without session and log. */
export async function toolsCallCommand(
  name: string,
  text: string,
  options: ToolsOptions,
  io: CommandIo,
): Promise<ExitCode> {
  const args = readArguments(text);
  const result = await withToolbox(options, io, (toolbox) =>
    toolbox.call(name, args, (progress) => {
      if (options.json !== true) io.err.write(progress.endsWith('\n') ? progress : `${progress}\n`);
    }),
  );
  if (!result) throw new UsageError(`There is no tool named ${name}: \`jetloop tools list\` shows what there is.`);
  if (options.json === true) writeJson(io, result);
  else {
    io.out.write(`${textOf(result.content)}\n`);
    for (const block of result.content)
      if (block.type !== 'text') io.out.write(`${JSON.stringify(block).slice(0, 2_000)}\n`);
  }
  return result.isError ? EXIT.otherEnd : EXIT.completed;
}

async function withToolbox<T>(
  options: ToolsOptions,
  io: CommandIo,
  work: (toolbox: Toolbox) => Promise<T>,
): Promise<T> {
  const agent =
    options.agent === undefined ? agentSpecSchema.parse({ name: 'by-hand' }) : await loadAgent(options.agent);
  const workspace = resolve(io.folder, options.workspace ?? '.');
  const toolbox = await openToolbox({ workspace, agent, settings: await loadToolSettings(io, options.module) });
  try {
    return await work(toolbox);
  } finally {
    await toolbox.close();
  }
}

function readArguments(text: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    // Whatever is wrong with it, what was expected is the same.
    throw new UsageError(`expected the arguments as a JSON object, such as '{"path":"."}', got ${text.slice(0, 200)}`);
  }
}

const firstLine = (text: string) => (text.split('\n')[0] ?? '').slice(0, 90);
