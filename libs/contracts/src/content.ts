import { z } from 'zod';
import { jsonSchema } from './json.js';

/** Passed unchanged to providers that cache prompts, in this and every later request. */
const cacheHint = z.object({ type: z.string() }).optional();

/** A content over 128 KiB, kept in the blob store; `digest` is the lower-case hex SHA-256 of its bytes. */
export const blobRefSchema = z.object({ digest: z.string(), size: z.number().int(), mediaType: z.string() });
export type BlobRef = z.infer<typeof blobRefSchema>;

export const textBlockSchema = z.object({ type: z.literal('text'), text: z.string(), cache: cacheHint });
export const reasoningBlockSchema = z.object({
  type: z.literal('reasoning'),
  text: z.string(),
  /** Opaque provider state (signatures, encrypted reasoning): goes back byte-exact to the same dialect and model. */
  state: z.object({ dialect: z.string(), model: z.string(), value: jsonSchema }).optional(),
});
export const toolCallBlockSchema = z.object({
  type: z.literal('tool-call'),
  id: z.string(),
  name: z.string(),
  /** The model's raw text, whatever it was. */
  arguments: z.string(),
  /** Opaque provider state of this call (a thought signature, say). */
  state: z.object({ dialect: z.string(), model: z.string(), value: jsonSchema }).optional(),
});
export const imageBlockSchema = z.object({
  type: z.literal('image'),
  mediaType: z.string(),
  url: z.string().optional(),
  base64: z.string().optional(),
  cache: cacheHint,
});
/** An image as callers and policies may give it: what no provider could take is refused at the edge. */
export const inputImageBlockSchema = imageBlockSchema
  .extend({
    mediaType: z
      .string()
      .regex(/^image\/[a-z0-9][a-z0-9.+-]*$/i, 'expected the media type of an image, such as image/png'),
    url: z.url({ protocol: /^https?$/, error: 'expected an http or https URL' }).optional(),
    base64: z.base64('expected base64 (the alphabet with + and /, padded)').min(1, 'expected bytes').optional(),
  })
  .refine(({ url, base64 }) => (url === undefined) !== (base64 === undefined), 'expected either url or base64');
export const resourceBlockSchema = z.object({
  type: z.literal('resource'),
  uri: z.string(),
  mediaType: z.string().optional(),
  text: z.string().optional(),
  blob: blobRefSchema.optional(),
});
export const jsonBlockSchema = z.object({ type: z.literal('json'), value: jsonSchema });
/** A block that went to the blob store; `of` is the type it had. */
export const blobBlockSchema = z.object({ type: z.literal('blob'), of: z.string(), blob: blobRefSchema });

/** What a user, a caller or a policy may put into a conversation. */
export const inputBlockSchema = z.discriminatedUnion('type', [
  textBlockSchema,
  inputImageBlockSchema,
  resourceBlockSchema,
  jsonBlockSchema,
  blobBlockSchema,
]);
/** Any block of the log. */
export const contentBlockSchema = z.discriminatedUnion('type', [
  textBlockSchema,
  reasoningBlockSchema,
  toolCallBlockSchema,
  imageBlockSchema,
  resourceBlockSchema,
  jsonBlockSchema,
  blobBlockSchema,
]);

export type TextBlock = z.infer<typeof textBlockSchema>;
export type BlobBlock = z.infer<typeof blobBlockSchema>;
export type ReasoningBlock = z.infer<typeof reasoningBlockSchema>;
export type ToolCallBlock = z.infer<typeof toolCallBlockSchema>;
export type InputBlock = z.infer<typeof inputBlockSchema>;
export type ContentBlock = z.infer<typeof contentBlockSchema>;

/** Content of a prompt or of injected context: at least one block. */
export const inputContentSchema = z.array(inputBlockSchema).min(1, 'expected at least one content block');

/** Who said something: never mislabelled (spec 1.4). `name` is the policy, agent or program. */
export const sourceSchema = z.object({
  kind: z.enum(['user', 'policy', 'caller', 'agent', 'harness', 'system']),
  name: z.string().optional(),
});
export type Source = z.infer<typeof sourceSchema>;

/** All text of a content, joined by line feeds. */
export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
