import { z } from 'zod';
import { inputContentSchema, contentBlockSchema, inputBlockSchema, sourceSchema } from './content.js';
import { jsonSchema } from './json.js';
import { usageSchema } from './model.js';

/** The interception seams, in the order in which a turn meets them (spec 3.1). */
export const seams = [
  'session-start',
  'prompt-submit',
  'pre-step',
  'pre-tool',
  'post-tool',
  'turn-continuation',
  'pre-compact',
] as const;
export const seamSchema = z.enum(seams);
export type Seam = z.infer<typeof seamSchema>;

const argumentsSchema = z.record(z.string(), jsonSchema);
const toolFactsSchema = z.object({ readonly: z.boolean(), idempotent: z.boolean() });

/** What a child session used: tokens by bucket, USD (null: a price is unknown). */
export const childUseSchema = z.object({
  session: z.string(),
  usage: usageSchema.nullable(),
  cost: z.number().nullable(),
});

/** What a call came to, before any policy saw it. */
export const settledResultSchema = z.object({
  content: z.array(contentBlockSchema),
  output: jsonSchema.optional(),
  isError: z.boolean(),
  error: z.object({ name: z.string(), code: z.string().optional() }).optional(),
  durationMs: z.number(),
  /** `spawn_agent`: what the child used, its own children included. */
  child: childUseSchema.optional(),
});
export type SettledResult = z.infer<typeof settledResultSchema>;

const session = { agent: z.string(), workspace: z.string().optional(), mode: z.string().optional() };

/** What a policy is shown, by seam. */
export const seamSubjectSchema = z.discriminatedUnion('seam', [
  z.object({ seam: z.literal('session-start'), ...session, source: z.enum(['startup', 'resume', 'fork']) }),
  z.object({
    seam: z.literal('prompt-submit'),
    ...session,
    messageId: z.string(),
    content: inputContentSchema,
    source: sourceSchema,
  }),
  z.object({ seam: z.literal('pre-step'), ...session, estimatedTokens: z.number() }),
  z.object({
    seam: z.literal('pre-tool'),
    ...session,
    n: z.number(),
    callId: z.string(),
    name: z.string(),
    arguments: argumentsSchema,
    tool: toolFactsSchema,
    /** Calls of this turn that were recorded before this one. */
    callsBefore: z.number(),
  }),
  z.object({
    seam: z.literal('post-tool'),
    ...session,
    n: z.number(),
    callId: z.string(),
    name: z.string(),
    arguments: argumentsSchema.nullable(),
    result: settledResultSchema,
  }),
  z.object({
    seam: z.literal('turn-continuation'),
    ...session,
    default: z.enum(['continue', 'stop']),
    forced: z.number(),
  }),
  z.object({
    seam: z.literal('pre-compact'),
    ...session,
    from: z.number(),
    to: z.number(),
    estimatedTokens: z.number(),
  }),
]);
export type SeamSubject = z.infer<typeof seamSubjectSchema>;

/** Context that a policy adds, under the policy's name. */
export const policyContextSchema = z.object({ policy: z.string(), content: z.array(inputBlockSchema) });
export type PolicyContext = z.infer<typeof policyContextSchema>;

const contexts = z.array(policyContextSchema).default([]);

/** The merged decision of all policies of a seam. Each carries the policies that stand behind it. */
export const seamDecisionSchema = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('none'), context: contexts }),
  z.object({
    decision: z.literal('allow'),
    /** prompt-submit: the rewritten content. */
    content: inputContentSchema.optional(),
    /** pre-tool: the rewritten arguments. */
    arguments: argumentsSchema.optional(),
    policies: z.array(z.string()).default([]),
    context: contexts,
  }),
  z.object({ decision: z.literal('block'), policy: z.string(), reason: z.string() }),
  z.object({
    decision: z.literal('deny'),
    policy: z.string(),
    reason: z.string(),
    /** What the policies before this one added. */
    context: z.array(policyContextSchema).optional(),
  }),
  z.object({
    decision: z.literal('ask'),
    policy: z.string(),
    question: z.string().optional(),
    expiresInMs: z.number().optional(),
    arguments: argumentsSchema.optional(),
    /** The policies that rewrote the arguments. */
    policies: z.array(z.string()).default([]),
    context: contexts,
  }),
  z.object({
    decision: z.literal('accept'),
    content: z.array(contentBlockSchema).optional(),
    policies: z.array(z.string()).default([]),
    context: contexts,
  }),
  z.object({ decision: z.literal('block-result'), policy: z.string(), feedback: z.string(), context: contexts }),
  z.object({ decision: z.literal('continue'), policy: z.string(), reason: z.string().optional() }),
  z.object({ decision: z.literal('stop'), policy: z.string() }),
  z.object({ decision: z.literal('compact'), policy: z.string(), context: contexts }),
]);
export type SeamDecision = z.infer<typeof seamDecisionSchema>;

/** The decision of a seam that changes nothing. */
export function plainDecision(seam: Seam): SeamDecision {
  switch (seam) {
    case 'session-start':
    case 'pre-step':
    case 'turn-continuation':
      return { decision: 'none', context: [] };
    case 'prompt-submit':
    case 'pre-tool':
    case 'pre-compact':
      return { decision: 'allow', policies: [], context: [] };
    case 'post-tool':
      return { decision: 'accept', policies: [], context: [] };
  }
}

/** Whether a decision lets everything go on as it was asked about. */
export function changesNothing(decision: SeamDecision): boolean {
  switch (decision.decision) {
    case 'none':
      return decision.context.length === 0;
    case 'allow':
      return decision.content === undefined && decision.arguments === undefined && decision.context.length === 0;
    case 'accept':
      return decision.content === undefined && decision.context.length === 0;
    case 'block':
    case 'deny':
    case 'ask':
    case 'block-result':
    case 'continue':
    case 'stop':
    case 'compact':
      return false;
  }
}
