import { llmErrorCodes } from '@jetloop/contracts';
import { z } from 'zod';

const milliseconds = z.number().int().min(0);
const price = z.number().min(0);

/** USD per million tokens, by disjoint bucket; the cache prices default to the input price. */
export const pricesSchema = z
  .strictObject({ input: price, cacheRead: price.optional(), cacheWrite: price.optional(), output: price })
  .transform(({ input, output, cacheRead = input, cacheWrite = input }) => ({ input, cacheRead, cacheWrite, output }));
export type Prices = z.output<typeof pricesSchema>;

const capabilitiesSchema = z.strictObject({
  vision: z.boolean().default(false),
  thinking: z.boolean().default(false),
  promptCaching: z.boolean().default(false),
  imageUrls: z.boolean().default(false),
  imageMediaTypes: z.union([z.enum(['common', 'supported']), z.array(z.string())]).default('common'),
  contextWindow: z.number().int().positive().optional(),
});

const jsonValue = z.json();
/** One rule of a scripted model; the first that matches a request answers it. */
export const scriptRuleSchema = z
  .strictObject({
    match: z
      .strictObject({
        /** The n-th model call of the turn, from 1. */
        step: z.number().int().min(1).optional(),
        /** Text that the last user message holds. */
        contains: z.string().optional(),
        /** Whether a tool result stands behind the last user message. */
        hasToolResult: z.boolean().optional(),
        /** Text that the last tool result holds. */
        resultContains: z.string().optional(),
      })
      .default({}),
    reply: z
      .strictObject({
        text: z.string().optional(),
        reasoning: z.string().optional(),
        toolCalls: z
          .array(
            z.strictObject({
              name: z.string(),
              id: z.string().optional(),
              arguments: z.union([z.string(), z.record(z.string(), jsonValue)]).default({}),
            }),
          )
          .default([]),
        finishReason: z.enum(['stop', 'tool-calls', 'max-tokens', 'content-filter']).optional(),
      })
      .optional(),
    error: z
      .strictObject({
        code: z.enum(llmErrorCodes),
        message: z.string().default('scripted failure'),
        status: z.number().optional(),
        retryAfterMs: milliseconds.optional(),
      })
      .optional(),
    usage: z
      .strictObject({
        input: z.number().default(0),
        cacheRead: z.number().default(0),
        cacheWrite: z.number().default(0),
        output: z.number().default(0),
      })
      .optional(),
    /** Milliseconds before the answer begins. */
    delayMs: milliseconds.default(0),
    /** Milliseconds between the pieces of a text; 0: the text comes at once. */
    pieceDelayMs: milliseconds.default(0),
  })
  .refine(({ reply, error }) => (reply === undefined) !== (error === undefined), 'expected either a reply or an error');
export type ScriptRule = z.output<typeof scriptRuleSchema>;

/** One model at one provider (spec 4.2). Times in milliseconds. */
export const targetSchema = z.strictObject({
  /** A name for display. */
  provider: z.string().min(1),
  dialect: z.enum(['chat', 'anthropic', 'google', 'scripted']),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  model: z.string().min(1),
  /** Name of the environment variable that holds the key; a key itself is refused. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, 'expected the name of an environment variable, not a key')
    .optional(),
  capabilities: capabilitiesSchema.prefault({}),
  prices: pricesSchema.optional(),
  maxTokens: z.number().int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  thinking: z.boolean().optional(),
  /** false: whole bodies, same semantics. */
  stream: z.boolean().default(true),
  /** For all on this target: tries, waits, body. */
  requestTimeout: milliseconds.default(600_000),
  /** To the first content. */
  firstTokenTimeout: milliseconds.default(120_000),
  /** Between bytes. */
  idleTimeout: milliseconds.default(30_000),
  throttleDelay: milliseconds.default(0),
  retryCount: z.number().int().min(0).default(2),
  jitterBackoff: milliseconds.default(500),
  cooldown: milliseconds.default(5_000),
  maxRetryAfter: milliseconds.default(60_000),
  /** Calls of one router at once; what is over it comes back later. Absent: no limit. */
  maxConcurrent: z.number().int().min(1).optional(),
  /** dialect scripted: its rules. In a models file also the path of a YAML or JSON file with them, relative to it. */
  script: z.array(scriptRuleSchema).optional(),
  /** dialect scripted: a file to which each request is added, as a line of JSON. In a models file relative to it. */
  journal: z.string().min(1).optional(),
});
export type Target = z.output<typeof targetSchema> & { readonly name: string };

export const catalogueSchema = z.strictObject({ targets: z.record(z.string().min(1), targetSchema) });
export type CatalogueInput = z.input<typeof catalogueSchema>;

/** The model targets that a router knows, by name. */
export type Catalogue = ReadonlyMap<string, Target>;

/** The catalogue is not valid. The message gives file, path and what was expected, a line each. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';
}

/** @throws CatalogueError */
export function catalogueOf(value: unknown, file: string): Catalogue {
  const parsed = catalogueSchema.safeParse(value);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${file}: ${issue.path.join('.') || '(top)'}: ${issue.message}`);
    throw new CatalogueError(lines.join('\n'));
  }
  return new Map(Object.entries(parsed.data.targets).map(([name, target]) => [name, { ...target, name }]));
}
