import { z } from 'zod';

/** Tools that the loop carries out itself, each with what the model is told of it and the arguments that it takes. */
export const controlTools = {
  spawn_agent: {
    description:
      'Starts another agent on a task of its own and returns its final answer. It sees nothing but the prompt, so say in it everything that it needs.',
    input: z.object({
      agent: z.string().min(1).describe('Name of the agent to start.'),
      prompt: z.string().min(1).describe('The whole task.'),
      budget: z
        .object({ tokens: z.number().int().positive().optional(), cost: z.number().positive().optional() })
        .optional()
        .describe('At most this many tokens, and US dollars. Default: half of what is left.'),
      deadlineMs: z.number().int().positive().optional().describe('Milliseconds to wait for it. Default: 30 minutes.'),
    }),
  },
  ask_user: {
    description: 'Asks the person a question and waits for the answer.',
    input: z.object({ question: z.string().min(1).describe('The question.') }),
  },
  todo_write: {
    description: 'Replaces the list of things to do, which people can see.',
    input: z.object({
      items: z.array(z.object({ text: z.string().min(1), status: z.enum(['pending', 'in_progress', 'done']) })),
    }),
  },
} as const;

export type ControlTool = keyof typeof controlTools;

/** Whether a tool is one of the loop's own. */
export function isControlTool(name: string): name is ControlTool {
  return Object.hasOwn(controlTools, name);
}
