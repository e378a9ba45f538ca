import { z } from 'zod';

/** How a model's answer ended (spec 4.5). `aborted`: cut by a cancel, with what had arrived. */
export const finishReasonSchema = z.enum(['stop', 'tool-calls', 'max-tokens', 'content-filter', 'aborted']);
export type FinishReason = z.infer<typeof finishReasonSchema>;

/** Characters of `rawFinishReason`. */
export const MAX_RAW_FINISH_REASON = 100;
/** What the provider itself gave as the reason, at most 100 characters; absent where it gave none. */
export const rawFinishReasonSchema = z.string().max(MAX_RAW_FINISH_REASON).optional();

/** Tokens by disjoint bucket; output includes reasoning. `estimated` says that a number was not reported. */
export const usageSchema = z.object({
  input: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  output: z.number(),
  estimated: z.enum(['missing', 'aborted']).optional(),
});
export type Usage = z.infer<typeof usageSchema>;

/** Codes of a failed model call (spec 4.6). */
export const llmErrorCodes = [
  'rate_limited',
  'overloaded',
  'network',
  'incomplete_stream',
  'aborted',
  'timeout',
  'auth',
  'quota_exceeded',
  'model_not_found',
  'bad_request',
  'context_overflow',
  'request_too_large',
  'server_error',
  'protocol',
  'tool_call_assembly',
  'empty_response',
  'object_decode',
  'unsupported_capability',
  'all_targets_cooling',
  'no_targets',
] as const;
export type LlmErrorCode = (typeof llmErrorCodes)[number];

/** Never holds prompt, completion, arguments or keys: code, status and a short provider message (spec 4.1). */
export const llmErrorSchema = z.object({
  code: z.enum([...llmErrorCodes, 'dead_lettered', 'expired']),
  message: z.string(),
  retryable: z.boolean(),
  retryAfterMs: z.number().optional(),
  target: z.string().optional(),
  status: z.number().optional(),
  providerCode: z.string().optional(),
  phase: z.string().optional(),
  earliestAt: z.string().optional(),
});
export type LlmError = z.infer<typeof llmErrorSchema>;

/** One try at one target. Durations in milliseconds, cost in USD (null: the price is unknown). */
export const attemptSchema = z.object({
  attemptId: z.string(),
  target: z.string(),
  why: z.enum(['primary', 'sticky', 'fallback', 'retry', 'repair']),
  outcome: z.enum(['ok', 'error', 'aborted', 'skipped', 'unknown']),
  error: llmErrorSchema.optional(),
  usage: usageSchema.optional(),
  cost: z.number().nullable().optional(),
  firstTokenMs: z.number().optional(),
  durationMs: z.number(),
});
export type Attempt = z.infer<typeof attemptSchema>;

/** Which model answered: the target of the chain, its provider, the model asked for and the one that served. */
export const answeringModelSchema = z.object({
  target: z.string(),
  provider: z.string(),
  model: z.string(),
  served: z.string().optional(),
});
export type AnsweringModel = z.infer<typeof answeringModelSchema>;
