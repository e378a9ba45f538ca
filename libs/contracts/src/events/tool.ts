import { z } from 'zod';
import { contentBlockSchema } from '../content.js';
import { jsonSchema } from '../json.js';
import { childUseSchema, policyContextSchema, seamSchema } from '../seams.js';

const position = { turn: z.number().int(), step: z.number().int(), n: z.number().int(), callId: z.string() };

/** Tokens of all buckets and USD. Absent: without a limit. */
export const childBudgetSchema = z.object({ tokens: z.number().optional(), cost: z.number().optional() });

export const toolErrorSchema = z.object({ name: z.string(), code: z.string().optional() });

/** One run of an external hook. `hook`: the policy; `status`: `ok`, or what went wrong (`exit 1`, `timeout`, `HTTP 500`). */
export const hookRunSchema = z.object({
  hook: z.string(),
  status: z.string(),
  /** RFC 3339. */
  startedAt: z.string(),
  durationMs: z.number(),
  /** An excerpt. */
  stderr: z.string().max(500).optional(),
});
export type HookRun = z.infer<typeof hookRunSchema>;

export const toolEvents = {
  'tool.call': z.object({
    ...position,
    name: z.string(),
    /** The model's raw text, whatever it was. */
    arguments: z.string(),
    /** What runs: parsed, after rewrites; null when it does not parse. */
    effective: z.record(z.string(), jsonSchema).nullable(),
    decision: z.enum(['allow', 'deny', 'ask']),
    /** `spawn_agent`: what is held back from the session's budgets while the child runs. */
    reserved: childBudgetSchema.optional(),
  }),
  'tool.result': z.object({
    ...position,
    content: z.array(contentBlockSchema),
    output: jsonSchema.optional(),
    isError: z.boolean(),
    error: toolErrorSchema.optional(),
    durationMs: z.number(),
    /** Context of post-tool policies, held back until the last result of the step. */
    context: z.array(policyContextSchema).optional(),
    /** `spawn_agent`: what the child used, its own children included. */
    child: childUseSchema.optional(),
  }),
  'policy.decided': z.object({
    seam: seamSchema,
    policy: z.string(),
    decision: z.string(),
    reason: z.string().optional(),
    callId: z.string().optional(),
    messageId: z.string().optional(),
    /** An observing policy would have decided so: it changed nothing. */
    observed: z.boolean().optional(),
  }),
  'approval.requested': z.object({
    approvalId: z.string(),
    callId: z.string(),
    argumentsHash: z.string(),
    policyVersion: z.string().optional(),
    expiresAt: z.string(),
    question: z.string(),
  }),
  'approval.decided': z.object({
    approvalId: z.string(),
    outcome: z.enum(['approved', 'rejected', 'expired', 'cancelled']),
    by: z.string(),
    note: z.string().optional(),
    /** The policies changed since the question was asked: they are asked again, and their answer is what counts. */
    reevaluate: z.boolean().optional(),
  }),
  'hook.result': z.object({ seam: seamSchema, ...hookRunSchema.shape }),
  'harness.raw': z.object({ source: z.string(), value: jsonSchema }),
} as const;
