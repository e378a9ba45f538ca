import { jsonSchema } from '@jetloop/contracts';
import { z } from 'zod';
import { durationSchema, nameSchema, text } from './rule-parts.schema.js';

const SECRET = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:\/.+)$/;
/** A secret is named, never written. */
const secretSchema = z.string().regex(SECRET, 'expected env:NAME or file:/path, never the secret itself');

/** A text that stands for an object with one field. */
const orText = <T extends z.ZodType>(field: string, schema: T) =>
  z.preprocess((value) => (typeof value === 'string' ? { [field]: value } : value), schema);

export const pluginSchema = orText('name', z.strictObject({ name: nameSchema, options: jsonSchema.optional() }));
export type PluginForm = z.infer<typeof pluginSchema>;

export const commandFormSchema = orText(
  'run',
  z.strictObject({
    /** For `/bin/sh -c`. */
    run: text,
    /** Beside the scrubbed environment of the service: texts, or `env:NAME` and `file:/path`. */
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable'), z.string())
      .default({}),
  }),
);
export type CommandForm = z.infer<typeof commandFormSchema>;

export const webhookSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'expected an http or https address' }),
  /** Signs every request. */
  secret: secretSchema,
});
export type WebhookForm = z.infer<typeof webhookSchema>;

export const responderSchema = orText('name', z.strictObject({ name: nameSchema }));

/** The forms of a policy that is no rule, by the key that it has in a set. */
export const formSchemas = {
  plugin: pluginSchema.optional(),
  command: commandFormSchema.optional(),
  webhook: webhookSchema.optional(),
  responder: responderSchema.optional(),
} as const;

/** What only some forms know. */
export const formOptionSchemas = {
  /** Of every form but rules. */
  timeout: durationSchema.optional(),
  /** Of the external forms: which tool, start or compaction, in the words of the hooks' dialect. */
  matcher: z
    .string()
    .refine((matcher) => {
      try {
        new RegExp(matcher, 'u');
        return true;
      } catch {
        // Only the expression's own error comes here.
        return matcher === '*';
      }
    }, 'expected nothing, "*", words joined by "|", or a regular expression')
    .optional(),
  /** Of the external forms at pre-step: whether the conversation is sent. */
  messages: z.boolean().optional(),
} as const;
