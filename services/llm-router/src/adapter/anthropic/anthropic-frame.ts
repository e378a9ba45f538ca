import { z } from 'zod';
import { givenArguments } from '../given-arguments.js';
import { tokenCount as count } from '../token-count.js';

export const anthropicUsageSchema = z.object({
  input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens: count,
});
export type AnthropicUsage = z.output<typeof anthropicUsageSchema>;

/** The blocks that an answer is made of. Others (of tools that run at the provider) were not asked for. */
export const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string().default('') }),
  z.object({ type: z.literal('thinking'), thinking: z.string().default(''), signature: z.string().default('') }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    /** Empty while it streams. */
    input: givenArguments,
  }),
]);
export type AnthropicBlock = z.output<typeof blockSchema>;

const usage = anthropicUsageSchema.nullish().catch(undefined);
const served = z.string().nullish().catch(undefined);

export const messageStartSchema = z.object({ message: z.object({ model: served, usage }) });
export const blockStartSchema = z.object({ index: z.number(), content_block: z.looseObject({ type: z.string() }) });
export const blockDeltaSchema = z.object({ index: z.number(), delta: z.looseObject({ type: z.string() }) });
export const blockStopSchema = z.object({ index: z.number() });
export const messageDeltaSchema = z.object({
  delta: z.object({ stop_reason: z.string().nullish() }).nullish(),
  usage,
});
/** A whole body. */
export const messageSchema = z.object({
  model: served,
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullish(),
  usage,
});
