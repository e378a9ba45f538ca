import { controlTools, type ControlTool } from '@jetloop/contracts';
import type { z } from 'zod';
import { defineTool } from './define-tool.js';
import { ToolError } from './tool-error.js';
import type { Tool } from './tool.js';

/** One of the loop's own tools, for the list alone: the orchestrator carries it out, no runner ever does. */
export function controlTool(name: ControlTool): Tool {
  const { description } = controlTools[name];
  const input: z.ZodObject = controlTools[name].input;
  return defineTool({
    name,
    description,
    input,
    readonly: name !== 'spawn_agent',
    idempotent: true,
    run() {
      throw new ToolError('not_here', `${name} is carried out by the loop itself, not by a runner.`);
    },
  });
}
