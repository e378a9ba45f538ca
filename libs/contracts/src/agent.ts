import { z } from 'zod';
import { tokenSchema } from './tokens.js';

const milliseconds = z.number().int().positive();

/** How to start or reach an MCP server (spec 5.3). Secrets are named (`env:NAME`), never written. */
export const mcpServerSchema = z.union([
  z.strictObject({
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
    perSession: z.boolean().default(false),
    readonlyTools: z.array(z.string()).default([]),
  }),
  z.strictObject({
    url: z.url(),
    headers: z.record(z.string(), z.string()).default({}),
    perSession: z.boolean().default(false),
    readonlyTools: z.array(z.string()).default([]),
  }),
]);

/** An external ACP agent as the engine of a session (spec 6.1). `permissionPolicy` has no default. */
export const harnessSchema = z.strictObject({
  kind: z.literal('acp'),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().optional(),
  mcpServers: z.array(z.string()).default([]),
  permissionPolicy: z.enum(['deny', 'allow_once', 'ask']),
  continuity: z.enum(['required', 'fresh']).default('required'),
  maxAttempts: z.number().int().min(1).default(1),
  /** Milliseconds for which a permission waits for a person, under `ask`. */
  approvalMs: milliseconds.default(600_000),
});

/** Limits of a turn. */
export const limitsSchema = z.strictObject({
  /** A turn makes at most this many model calls; 0 makes none. */
  maxSteps: z.number().int().min(0).default(50),
});

/**
 * Budgets of a session: tokens of all buckets, cost in USD. Absent: unlimited; 0: nothing. They are compared with what is
 * known before each model call, so one call may overshoot. That a model has no price is known after its first call: under a
 * cost budget that one is made, and the next ends its turn with the error `price_unknown`.
 */
export const budgetsSchema = z.strictObject({
  tokens: z.number().int().min(0).optional(),
  cost: z.number().min(0).optional(),
});

/** Deadlines in milliseconds. */
export const deadlinesSchema = z.strictObject({
  turn: milliseconds.optional(),
  tool: milliseconds.default(120_000),
  llm: milliseconds.default(600_000),
});

/**
 * What an agent is: the one schema behind YAML files, the AGENTS bucket and the copy in `session.created`.
 * Unknown fields are refused, so that a typing error is never ignored.
 */
export const agentSpecSchema = z.strictObject({
  name: tokenSchema,
  description: z.string().optional(),
  model: z
    .strictObject({
      /** Names of model targets, in the order in which they are tried. */
      chain: z
        .array(z.string().min(1))
        .min(1, 'expected at least one target')
        .refine((chain) => new Set(chain).size === chain.length, 'expected distinct target names'),
      /** false: only the first of the order is tried. */
      fallback: z.boolean().default(true),
      temperature: z.number().min(0).max(2).optional(),
      maxTokens: z.number().int().positive().optional(),
      thinking: z.boolean().optional(),
    })
    .optional(),
  systemPrompt: z.string().default(''),
  /** Names of tools; `*` stands for all that the runner offers. */
  tools: z.array(z.string().min(1)).default(['*']),
  mcpServers: z.record(tokenSchema, mcpServerSchema).default({}),
  readonly: z.boolean().default(false),
  sandbox: z.enum(['none', 'bubblewrap']).default('none'),
  limits: limitsSchema.default({ maxSteps: 50 }),
  budgets: budgetsSchema.default({}),
  deadlines: deadlinesSchema.default({ tool: 120_000, llm: 600_000 }),
  modes: z.array(z.strictObject({ id: tokenSchema, name: z.string(), description: z.string().optional() })).default([]),
  harness: harnessSchema.optional(),
});

/** An agent spec with all defaults applied. */
export type AgentSpec = z.output<typeof agentSpecSchema>;
/** An agent spec as people write it. */
export type AgentSpecInput = z.input<typeof agentSpecSchema>;
