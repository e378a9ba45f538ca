import { z } from 'zod';
import { contentBlockSchema } from '../content.js';
import { hookRunSchema, toolErrorSchema } from '../events/tool.js';
import { jsonSchema } from '../json.js';
import {
  answeringModelSchema,
  attemptSchema,
  finishReasonSchema,
  llmErrorSchema,
  rawFinishReasonSchema,
  usageSchema,
} from '../model.js';
import { policyContextSchema, seamDecisionSchema, seamSchema, settledResultSchema } from '../seams.js';
import { acpReplySchema, type AcpReply } from './acp.js';

/** `commandId` names the work command that is answered; the reply's message id is `<commandId>:reply`. */
const reply = { commandId: z.string() };
const deferred = z.object({ until: z.string(), reason: z.string(), attempts: z.array(attemptSchema) });
/** `schemaHash`: what the tool takes now; reason `tool_changed` only. */
const toolDeferred = deferred.extend({ schemaHash: z.string().optional() });

export const llmReplySchema = z.object({
  ...reply,
  kind: z.literal('llm'),
  result: z.discriminatedUnion('status', [
    z.object({
      status: z.literal('ok'),
      content: z.array(contentBlockSchema),
      finishReason: finishReasonSchema,
      rawFinishReason: rawFinishReasonSchema,
      model: answeringModelSchema,
      usage: usageSchema,
      cost: z.number().nullable(),
      attempts: z.array(attemptSchema),
    }),
    z.object({
      status: z.literal('error'),
      error: llmErrorSchema,
      /** The partial answer of an aborted attempt. */
      content: z.array(contentBlockSchema).optional(),
      model: answeringModelSchema.optional(),
      usage: usageSchema.optional(),
      cost: z.number().nullable(),
      attempts: z.array(attemptSchema),
    }),
    z.object({ status: z.literal('deferred'), deferred }),
  ]),
});
export type LlmReply = z.infer<typeof llmReplySchema>;

export const toolReplySchema = z.object({
  ...reply,
  kind: z.literal('tool'),
  result: z.discriminatedUnion('status', [
    z.object({
      status: z.literal('result'),
      content: z.array(contentBlockSchema),
      output: jsonSchema.optional(),
      isError: z.boolean(),
      error: toolErrorSchema.optional(),
      durationMs: z.number(),
    }),
    z.object({
      status: z.literal('listed'),
      digest: z.string(),
      tools: z.array(
        z.object({ name: z.string(), readonly: z.boolean(), idempotent: z.boolean(), schemaHash: z.string() }),
      ),
      unavailable: z.array(z.object({ name: z.string(), reason: z.string() })).default([]),
    }),
    z.object({ status: z.literal('failed'), error: z.object({ code: z.string(), message: z.string() }) }),
    z.object({ status: z.literal('deferred'), deferred: toolDeferred }),
  ]),
});
export type ToolReply = z.infer<typeof toolReplySchema>;

const hookAnswer = {
  seam: seamSchema,
  /** The policy set version that was evaluated. */
  policyVersion: z.string().optional(),
  /** post-tool: the result as it was asked about. It was in no event yet, so it comes back with the answer. */
  asked: settledResultSchema.optional(),
  result: z.discriminatedUnion('status', [
    z.object({ status: z.literal('decided'), decision: seamDecisionSchema }),
    z.object({
      status: z.literal('failed'),
      policy: z.string(),
      error: z.object({ code: z.string(), message: z.string() }),
      /** What the policies before the failed one added. */
      context: z.array(policyContextSchema).optional(),
    }),
    z.object({ status: z.literal('deferred'), deferred }),
  ]),
  /** Runs of external hooks (commands, webhooks, responders), each a `hook.result` of the log. */
  hooks: z.array(hookRunSchema).default([]),
  /** Failures of observing policies, decisions that they would have made, and rewrites that came to nothing. */
  observed: z.array(z.object({ policy: z.string(), decision: z.string(), reason: z.string().optional() })).default([]),
};
export const hookReplySchema = z.object({
  ...reply,
  kind: z.literal('hook'),
  ...hookAnswer,
  /** Answers to the first of the command's `following` questions, in order: each is named by its id and its digest. */
  followed: z.array(z.object({ ...reply, digest: z.string(), ...hookAnswer })).optional(),
});
export type HookReply = z.infer<typeof hookReplySchema>;

/** What a durable timer delivers. */
export const timerSchema = z.object({
  kind: z.literal('timer'),
  name: z.string(),
  dueAt: z.string(),
  /** `parked-…` only: the id of the work whose reply was given up. */
  work: z.string().optional(),
});
export type Timer = z.infer<typeof timerSchema>;

/** The end of a child session, sent to its parent. */
export const childReplySchema = z.object({
  ...reply,
  kind: z.literal('child'),
  callId: z.string(),
  outcome: z.string(),
  content: z.array(contentBlockSchema),
  usage: usageSchema.nullable(),
  cost: z.number().nullable(),
});
export type ChildReply = z.infer<typeof childReplySchema>;

/** By the last token of the subject: a kind on a subject that is not its own is refused. */
export const replySchemas = {
  llm: llmReplySchema,
  tool: toolReplySchema,
  hook: hookReplySchema,
  timer: timerSchema,
  child: childReplySchema,
  acp: acpReplySchema,
} as const;
export type Reply = LlmReply | ToolReply | HookReply | AcpReply | ChildReply;
