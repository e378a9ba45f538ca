import { z } from 'zod';
import { contentBlockSchema, inputContentSchema, sourceSchema } from '../content.js';
import { jsonSchema } from '../json.js';
import {
  answeringModelSchema,
  attemptSchema,
  finishReasonSchema,
  rawFinishReasonSchema,
  usageSchema,
} from '../model.js';

const turn = z.number().int();
/** Of an external agent's message: what its chunks held beside their content, in order (spec 6.2). */
const meta = z.array(jsonSchema).optional();

export const messageEvents = {
  'message.queued': z.object({
    messageId: z.string(),
    lane: z.enum(['turn', 'step', 'inject']),
    content: inputContentSchema,
    source: sourceSchema,
    interrupts: turn.optional(),
    output: z.object({ schema: z.record(z.string(), z.unknown()) }).optional(),
  }),
  'message.discarded': z.object({ messageId: z.string(), reason: z.enum(['cancelled', 'closed']) }),
  'user.message': z.object({
    turn,
    messageId: z.string().optional(),
    content: z.array(contentBlockSchema),
    source: sourceSchema,
    meta,
  }),
  'prompt.blocked': z.object({
    turn,
    messageId: z.string(),
    content: inputContentSchema,
    source: sourceSchema,
    reason: z.string(),
  }),
  'context.message': z.object({
    turn,
    content: inputContentSchema,
    source: sourceSchema,
    messageId: z.string().optional(),
  }),
  'steering.message': z.object({
    turn,
    messageId: z.string().optional(),
    content: inputContentSchema,
    source: sourceSchema,
  }),
  'assistant.message': z.object({
    turn,
    step: z.number().int(),
    content: z.array(contentBlockSchema),
    finishReason: finishReasonSchema,
    rawFinishReason: rawFinishReasonSchema,
    model: answeringModelSchema.nullable(),
    usage: usageSchema.nullable(),
    /** USD over all attempts; null where a price is unknown. */
    cost: z.number().nullable(),
    attempts: z.array(attemptSchema),
    meta,
  }),
} as const;
