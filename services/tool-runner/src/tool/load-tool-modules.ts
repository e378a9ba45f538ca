import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { readThrown } from './thrown.js';
import { TOOL_NAME } from './tool-name.js';
import type { Tool } from './tool.js';

/** A module named in the configuration has no tools to give. The message says which, and what was expected. */
export class ToolModuleError extends Error {
  override readonly name = 'ToolModuleError';
}

const isFunction = (value: unknown) => typeof value === 'function';
const toolSchema = z.looseObject({
  name: z.string().regex(TOOL_NAME),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  readonly: z.boolean(),
  idempotent: z.boolean(),
  timeoutMs: z.number().positive().optional(),
  fit: z.custom<Tool['fit']>(isFunction, 'expected a function'),
  run: z.custom<Tool['run']>(isFunction, 'expected a function'),
});
const moduleSchema = z.object({ default: z.union([z.array(toolSchema), toolSchema.transform((tool) => [tool])]) });

/**
 * Loads modules whose default export is a tool, or an array of tools, made by `defineTool`.
 * @param names packages, or paths of files (absolute, or beginning with a dot)
 * @param folder where the latter begin
 * @throws ToolModuleError
 */
export async function loadToolModules(names: readonly string[], folder: string): Promise<Tool[]> {
  return (await Promise.all(names.map((name) => loadModule(name, folder)))).flat();
}

async function loadModule(name: string, folder: string): Promise<Tool[]> {
  const specifier = isAbsolute(name) || name.startsWith('.') ? pathToFileURL(resolve(folder, name)).href : name;
  const loaded: unknown = await import(specifier).catch((error: unknown) => {
    throw new ToolModuleError(`the tool module ${name} cannot be loaded: ${readThrown(error).message}`);
  });
  const parsed = moduleSchema.safeParse(loaded);
  if (!parsed.success)
    throw new ToolModuleError(
      `the tool module ${name}: expected its default export to be a tool, or an array of tools, made by defineTool:\n${z.prettifyError(parsed.error)}`,
    );
  return parsed.data.default.map(asTool);
}

/** The methods stay those of the tool's own object. */
function asTool(tool: z.output<typeof toolSchema>): Tool {
  const { name, description, inputSchema, readonly, idempotent, timeoutMs } = tool;
  return {
    ...{ name, description, inputSchema, readonly, idempotent },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    fit: (args) => tool.fit(args),
    run: (args, ctx) => tool.run(args, ctx),
  };
}
