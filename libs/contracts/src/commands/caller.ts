import { z } from 'zod';
import { agentSpecSchema } from '../agent.js';
import { inputContentSchema, sourceSchema } from '../content.js';
import { tokenSchema } from '../tokens.js';

const messageId = tokenSchema;
const output = z.object({ schema: z.record(z.string(), z.unknown()) });

const prompt = z.object({
  messageId,
  content: inputContentSchema,
  source: sourceSchema.optional(),
  output: output.optional(),
});

/** By name or inline. Of what does not fit, the form that was meant is told, not that both do not. */
const agent = z.union([z.object({ name: tokenSchema }), z.object({ spec: agentSpecSchema })], {
  error: ({ input, errors }) => {
    const isInline = typeof input === 'object' && input !== null && 'spec' in input;
    const issues = (isInline ? errors[1] : errors[0]) ?? [];
    return issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`).join('; ');
  },
});

const envelope = {
  commandId: tokenSchema,
  /** Who sends it: a name for the audit, not a credential. */
  actor: z.string().min(1).max(200),
  traceparent: z.string().optional(),
};

/** What callers (API, CLI, editors, programs) send to a session's inbox (spec 1.4). */
export const callerCommandSchema = z.discriminatedUnion('kind', [
  z.object({
    ...envelope,
    kind: z.literal('create'),
    /** A name in AGENTS, or an inline spec where the orchestrator allows it. */
    agent,
    workspace: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
    prompt: prompt.optional(),
    parent: z.object({ session: tokenSchema, callId: z.string() }).optional(),
  }),
  z.object({
    ...envelope,
    kind: z.literal('prompt'),
    ...prompt.shape,
    whenBusy: z.enum(['queue', 'reject', 'interrupt']).default('queue'),
  }),
  z.object({
    ...envelope,
    kind: z.literal('steer'),
    messageId,
    content: inputContentSchema,
    source: sourceSchema.optional(),
  }),
  z.object({
    ...envelope,
    kind: z.literal('inject'),
    messageId,
    content: inputContentSchema,
    source: sourceSchema.optional(),
  }),
  z.object({
    ...envelope,
    kind: z.literal('cancel'),
    reason: z.string().min(1).default('cancelled'),
    /** RFC 3339: turns and messages that began later are not affected. Default: all that there is when it is decided. */
    asOf: z.iso.datetime({ offset: true }).optional(),
    messageIds: z.array(messageId).optional(),
  }),
  z.object({
    ...envelope,
    kind: z.literal('approval.decide'),
    approvalId: z.string(),
    outcome: z.enum(['approved', 'rejected']),
    note: z.string().optional(),
  }),
  z.object({ ...envelope, kind: z.literal('resume') }),
  z.object({ ...envelope, kind: z.literal('close'), reason: z.string().default('closed') }),
  z.object({
    ...envelope,
    kind: z.literal('fork'),
    from: z.object({ session: tokenSchema, sequence: z.number().int().min(0) }),
  }),
  z.object({ ...envelope, kind: z.literal('set-mode'), mode: tokenSchema }),
]);
export type CallerCommand = z.output<typeof callerCommandSchema>;
export type CallerCommandInput = z.input<typeof callerCommandSchema>;

/** Codes of a refused command, with their HTTP twins. */
export const outcomeCodes = {
  invalid: 400,
  not_found: 404,
  busy: 409,
  closed: 409,
  stale: 409,
  too_large: 413,
  conflict: 422,
  full: 429,
  unavailable: 503,
} as const;
export type OutcomeCode = keyof typeof outcomeCodes;

/** The answer to a caller's command, on `outcome.<tenant>.<session>.<commandId>`. */
export const outcomeSchema = z.discriminatedUnion('status', [
  z.object({
    status: z.literal('accepted'),
    /** The position of the event that accepted it. */
    sequence: z.number().int().nullable(),
  }),
  z.object({
    status: z.literal('refused'),
    code: z.enum(Object.keys(outcomeCodes) as [OutcomeCode, ...OutcomeCode[]]),
    message: z.string(),
    retryAfterMs: z.number().optional(),
  }),
]);
export type Outcome = z.infer<typeof outcomeSchema>;
