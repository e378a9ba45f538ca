import { z } from 'zod';
import { givenArguments } from '../given-arguments.js';
import { chatUsageSchema } from './chat-usage.js';

const text = z.string().nullish();
/** Mistral gives content as parts, its reasoning among them. */
const contentSchema = z.union([
  z.string(),
  z.array(
    z.looseObject({
      type: z.string(),
      text: text,
      thinking: z.union([z.string(), z.array(z.looseObject({ text }))]).nullish(),
      refusal: text,
    }),
  ),
]);
const functionSchema = z.object({
  name: text,
  arguments: givenArguments,
});
const callSchema = z.object({
  index: z.number().int().nullish(),
  id: z.string().nullish(),
  function: functionSchema.nullish(),
});
const messageSchema = z.object({
  content: contentSchema.nullish(),
  refusal: text,
  reasoning_content: text,
  reasoning: text.catch(undefined),
  tool_calls: z.array(callSchema).nullish(),
  function_call: functionSchema.nullish(),
});

/** A chunk of a stream (`delta`) or a whole body (`message`), as far as it is read. */
export const chatFrameSchema = z.object({
  model: z.string().nullish().catch(undefined),
  choices: z
    .array(
      z.object({
        index: z.number().nullish(),
        delta: messageSchema.nullish(),
        message: messageSchema.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: chatUsageSchema.nullish().catch(undefined),
  x_groq: z.object({ usage: chatUsageSchema.nullish() }).nullish().catch(undefined),
});
export type ChatFrame = z.output<typeof chatFrameSchema>;
export type ChatMessage = z.output<typeof messageSchema>;
