import { z } from 'zod';
import { mcpServerSchema } from '../agent.js';
import { recordedEventSchema, type RecordedEvent, type UnknownEvent } from '../commit.js';
import { jsonSchema } from '../json.js';
import { seamSubjectSchema } from '../seams.js';
import type { AcpCommand } from './acp.js';
import { workShape } from './work-shape.js';

export const llmCommandSchema = z.object({
  ...workShape,
  purpose: z.enum(['step', 'compaction']),
  toolsDigest: z.string().optional(),
  output: z.object({ schema: z.record(z.string(), z.unknown()) }).optional(),
});
export type LlmCommand = z.infer<typeof llmCommandSchema>;

export const toolCommandSchema = z.discriminatedUnion('op', [
  z.object({
    ...workShape,
    op: z.literal('call'),
    n: z.number().int(),
    callId: z.string(),
    /** `<tenant>.<session>.<turn>.<step>.<n>`: the same on every delivery; tools get it as idempotency key. */
    effectId: z.string(),
    name: z.string(),
    effective: z.record(z.string(), jsonSchema),
    /** Of the tool that a person approved: a runner whose tool takes something else defers the call (`tool_changed`). */
    schemaHash: z.string().optional(),
    workspace: z.string(),
    readonly: z.boolean(),
    sandbox: z.enum(['none', 'bubblewrap']),
    servers: z.record(z.string(), mcpServerSchema),
  }),
  z.object({
    ...workShape,
    op: z.literal('list'),
    tools: z.array(z.string()),
    readonly: z.boolean(),
    servers: z.record(z.string(), mcpServerSchema),
  }),
]);
export type ToolCommand = z.infer<typeof toolCommandSchema>;

/** An event as a log has it: of a type that this build knows, or of another. */
const loggedEventSchema = z.custom<RecordedEvent | UnknownEvent>(
  (value) => recordedEventSchema.safeParse(value).success,
  'expected an event with its sequence, type and version',
);

/**
 * A question that comes next if the ones before it in its command are answered with decisions that change nothing: its
 * answer then needs no round trip of its own.
 */
export const followingQuestionSchema = z.object({
  /** The work id that the question has when it is asked by itself. */
  commandId: z.string(),
  turn: z.number().int(),
  step: z.number().int(),
  subject: seamSubjectSchema,
  /** Of the subject and of what joined the turn before it: the answer counts for this one only. */
  digest: z.string(),
  /** What joins the conversation before it and is in no event yet, behind what `upTo` and the questions before name. */
  pending: z.array(loggedEventSchema),
});
export type FollowingQuestion = z.infer<typeof followingQuestionSchema>;

export const hookCommandSchema = z.object({
  ...workShape,
  subject: seamSubjectSchema,
  following: z.array(followingQuestionSchema).optional(),
});
export type HookCommand = z.infer<typeof hookCommandSchema>;

export type WorkCommand = LlmCommand | ToolCommand | HookCommand | AcpCommand;
