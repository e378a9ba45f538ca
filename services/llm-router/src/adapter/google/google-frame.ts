import { z } from 'zod';
import { givenArguments } from '../given-arguments.js';
import { tokenCount as count } from '../token-count.js';

export const googleUsageSchema = z.object({
  promptTokenCount: count,
  cachedContentTokenCount: count,
  toolUsePromptTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
  totalTokenCount: count,
});
export type GoogleUsage = z.output<typeof googleUsageSchema>;

const signature = z.string().optional();
/** Parts of an answer. Others (of code that runs at the provider, of pictures) were not asked for. */
export const googlePartSchema = z.union([
  z.object({
    functionCall: z.object({
      id: z.string().nullish(),
      name: z.string(),
      args: givenArguments,
    }),
    thoughtSignature: signature,
  }),
  z.object({ text: z.string(), thought: z.boolean().nullish(), thoughtSignature: signature }),
]);
export type GooglePart = z.output<typeof googlePartSchema>;

/** A chunk of a stream, or a whole body. */
export const googleFrameSchema = z.object({
  candidates: z
    .array(
      z.object({
        index: z.number().nullish(),
        content: z.object({ parts: z.array(z.record(z.string(), z.unknown())).nullish() }).nullish(),
        finishReason: z.string().nullish(),
      }),
    )
    .nullish(),
  promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish().catch(undefined),
  usageMetadata: googleUsageSchema.nullish().catch(undefined),
  modelVersion: z.string().nullish().catch(undefined),
});
