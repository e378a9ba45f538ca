import { z } from 'zod';
import { describeMisfit } from './describe-misfit.js';
import { ToolError } from './tool-error.js';
import { TOOL_NAME } from './tool-name.js';
import type { Tool, ToolContext, ToolReturn } from './tool.js';

export interface ToolDefinition<Shape extends z.ZodRawShape> {
  name: string;
  description: string;
  input: z.ZodObject<Shape>;
  /** Changes nothing; default false. */
  readonly?: boolean;
  /** Running it twice is as good as once; default: as `readonly`. */
  idempotent?: boolean;
  /** Limit of one run in milliseconds; default {@link DEFAULT_TIMEOUT_MS} of `runTool`. */
  timeoutMs?: number;
  run(args: z.output<z.ZodObject<Shape>>, ctx: ToolContext): ToolReturn | Promise<ToolReturn>;
}

/**
 * Makes a tool from a zod object. Keys that the schema does not know are refused, so that a misspelt option is not ignored.
 *
 * @example defineTool({ name: 'add', description: 'Adds.', input: z.object({ a: z.number(), b: z.number() }), run: ({ a, b }) => `${a + b}` })
 */
export function defineTool<Shape extends z.ZodRawShape>(definition: ToolDefinition<Shape>): Tool {
  const { name, description, readonly = false, idempotent = readonly, timeoutMs } = definition;
  if (!TOOL_NAME.test(name)) throw new TypeError(`a tool's name must match ${TOOL_NAME.source}, got "${name}"`);
  const input = definition.input.strict();
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  const misfit = (error: z.ZodError) => describeMisfit(name, inputSchema, error);

  return {
    name,
    description,
    inputSchema,
    readonly,
    idempotent,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    fit(args) {
      const parsed = input.safeParse(args);
      return parsed.success ? { ok: true, value: args } : { ok: false, message: misfit(parsed.error) };
    },
    async run(args, ctx) {
      const parsed = await input.safeParseAsync(args);
      if (!parsed.success) throw new ToolError('invalid_arguments', misfit(parsed.error));
      return definition.run(parsed.data, ctx);
    },
  };
}
