import { z } from 'zod';
import { mcpServerSchema } from '../agent.js';
import { jsonSchema } from '../json.js';
import { seamSubjectSchema } from '../seams.js';

/** What every work command carries. `commandId` is the work id of spec 1.3, with the attempt at its end. */
const work = {
  commandId: z.string(),
  tenant: z.string(),
  session: z.string(),
  turn: z.number().int(),
  step: z.number().int(),
  /** Which work of the step: `llm`, `tool.<n>`, `hook.<seam>…`, `list`, `compact`, `acp`. */
  what: z.string(),
  attempt: z.number().int().min(1),
  /** The event (sequence) up to which the worker reads the session. */
  upTo: z.number().int(),
  /** RFC 3339: when the work became outstanding. */
  since: z.string(),
  /** RFC 3339: after it the work is not begun any more. */
  deadline: z.string(),
};

export const llmCommandSchema = z.object({
  ...work,
  purpose: z.enum(['step', 'compaction']),
  toolsDigest: z.string().optional(),
  output: z.object({ schema: z.record(z.string(), z.unknown()) }).optional(),
});
export type LlmCommand = z.infer<typeof llmCommandSchema>;

export const toolCommandSchema = z.discriminatedUnion('op', [
  z.object({
    ...work,
    op: z.literal('call'),
    n: z.number().int(),
    callId: z.string(),
    /** `<tenant>.<session>.<turn>.<step>.<n>`: the same on every delivery; tools get it as idempotency key. */
    effectId: z.string(),
    name: z.string(),
    effective: z.record(z.string(), jsonSchema),
    workspace: z.string(),
    readonly: z.boolean(),
    sandbox: z.enum(['none', 'bubblewrap']),
    servers: z.record(z.string(), mcpServerSchema),
  }),
  z.object({
    ...work,
    op: z.literal('list'),
    tools: z.array(z.string()),
    readonly: z.boolean(),
    servers: z.record(z.string(), mcpServerSchema),
  }),
]);
export type ToolCommand = z.infer<typeof toolCommandSchema>;

export const hookCommandSchema = z.object({ ...work, subject: seamSubjectSchema });
export type HookCommand = z.infer<typeof hookCommandSchema>;

export type WorkCommand = LlmCommand | ToolCommand | HookCommand;
