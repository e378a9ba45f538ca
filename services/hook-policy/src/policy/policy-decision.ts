import { contentBlockSchema, inputBlockSchema, inputContentSchema, jsonSchema, type Seam } from '@jetloop/contracts';
import { z } from 'zod';

/** A deny without a reason is a failure of the policy, not a deny (spec 3.3). */
const reason = z
  .string({ error: 'expected a reason' })
  .refine((text) => text.trim() !== '', 'expected a reason, got an empty text');
const context = z.array(inputBlockSchema).optional();
const none = z.strictObject({ decision: z.literal('none') });
const noneWithContext = z.strictObject({ decision: z.literal('none'), context });
const block = z.strictObject({ decision: z.literal('block'), reason });

/** What a policy may answer, by seam (spec 3.1). Strict: an unknown decision or field is a failure of the policy. */
export const policyDecisionSchemas = {
  'session-start': noneWithContext,
  'prompt-submit': z.discriminatedUnion('decision', [
    z.strictObject({ decision: z.literal('allow'), content: inputContentSchema.optional(), context }),
    block,
  ]),
  'pre-step': z.discriminatedUnion('decision', [noneWithContext, z.strictObject({ decision: z.literal('compact') })]),
  'pre-tool': z.discriminatedUnion('decision', [
    z.strictObject({
      decision: z.literal('allow'),
      arguments: z.record(z.string(), jsonSchema).optional(),
      context,
    }),
    z.strictObject({ decision: z.literal('deny'), reason, context }),
    z.strictObject({
      decision: z.literal('ask'),
      question: z.string().optional(),
      expiresInMs: z.number().positive().optional(),
      /** What is asked for: these arguments instead of the model's. */
      arguments: z.record(z.string(), jsonSchema).optional(),
      context,
    }),
  ]),
  'post-tool': z.discriminatedUnion('decision', [
    z.strictObject({ decision: z.literal('accept'), content: z.array(contentBlockSchema).optional(), context }),
    z.strictObject({ decision: z.literal('block'), feedback: reason, context }),
  ]),
  'turn-continuation': z.discriminatedUnion('decision', [
    none,
    z.strictObject({ decision: z.literal('continue'), reason: z.string().optional() }),
    z.strictObject({ decision: z.literal('stop') }),
  ]),
  'pre-compact': z.discriminatedUnion('decision', [z.strictObject({ decision: z.literal('allow') }), block]),
} as const satisfies Record<Seam, z.ZodType>;

export type PolicyDecisionOf<S extends Seam> = z.infer<(typeof policyDecisionSchemas)[S]>;
export type PolicyDecision = PolicyDecisionOf<Seam>;

/** The decision that changes nothing: what a policy answers that does not match. */
export const neutralDecisions = {
  'session-start': { decision: 'none' },
  'prompt-submit': { decision: 'allow' },
  'pre-step': { decision: 'none' },
  'pre-tool': { decision: 'allow' },
  'post-tool': { decision: 'accept' },
  'turn-continuation': { decision: 'none' },
  'pre-compact': { decision: 'allow' },
} as const satisfies { [S in Seam]: PolicyDecisionOf<S> };
