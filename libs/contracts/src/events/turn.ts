import { z } from 'zod';
import { inputContentSchema, sourceSchema } from '../content.js';
import { attemptSchema, usageSchema } from '../model.js';

const turn = z.number().int();
const step = z.number().int();

/** How a turn ended (spec 2.4). */
export const turnEndSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('completed') }),
  z.object({ kind: z.literal('aborted'), reason: z.string() }),
  z.object({ kind: z.literal('error'), step, message: z.string(), code: z.string() }),
  z.object({ kind: z.literal('max-tokens') }),
  z.object({ kind: z.literal('max-steps') }),
  z.object({ kind: z.literal('budget-exceeded') }),
  z.object({ kind: z.literal('refused') }),
  z.object({ kind: z.literal('rejected'), reason: z.string() }),
  z.object({ kind: z.literal('closed') }),
  z.object({ kind: z.literal('interrupted') }),
]);
export type TurnEnd = z.infer<typeof turnEndSchema>;

export const turnEvents = {
  'turn.start': z.object({
    turn,
    trigger: z.object({ kind: z.enum(['message', 'injection', 'continuation']), source: sourceSchema }),
    messageIds: z.array(z.string()),
  }),
  'turn.cancelling': z.object({
    turn,
    reason: z.string(),
    by: z.string(),
    /** Set when the session closes with the turn: the reason of its `session.closed`. */
    closes: z.string().optional(),
  }),
  'turn.error': z.object({
    turn,
    step,
    error: z.object({ name: z.string(), code: z.string(), message: z.string() }),
    /** Of the model call that failed: they used time, tokens and money though no answer came of them. */
    attempts: z.array(attemptSchema).optional(),
  }),
  'turn.end': z.object({ turn, reason: turnEndSchema }),
  'step.start': z.object({ turn, step }),
  /** `asks` is set when policies are asked whether the turn goes on. */
  'step.end': z.object({ turn, step, asks: z.literal('turn-continuation').optional() }),
  'work.deferred': z.object({
    what: z.string(),
    attempt: z.number().int(),
    until: z.string(),
    reason: z.string(),
    attempts: z.array(attemptSchema),
    /** Reason `tool_changed`: the tool of an approved call takes something else now, and policies are asked again. */
    schemaHash: z.string().optional(),
  }),
  'compaction.start': z.object({ turn, range: z.object({ from: z.number(), to: z.number() }) }),
  'compaction.summary': z.object({
    turn,
    summary: inputContentSchema,
    replaced: z.object({ from: z.number(), to: z.number() }),
  }),
  /** With `error` the conversation is as it was. Usage and cost are those of the call that made the summary. */
  'compaction.end': z.object({
    turn,
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    usage: usageSchema.nullable().optional(),
    /** USD; null where a price is unknown. */
    cost: z.number().nullable().optional(),
    attempts: z.array(attemptSchema).optional(),
  }),
} as const;
