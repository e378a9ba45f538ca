import { z } from 'zod';
import { messageEvents } from '../events/message.js';
import { toolEvents } from '../events/tool.js';
import { workShape } from './work-shape.js';

/** Drives an external ACP agent through a whole turn (spec 6.1). Agent spec and prompt stand in the log, up to `upTo`. */
export const acpCommandSchema = z.object({ ...workShape, op: z.literal('run') });
export type AcpCommand = z.infer<typeof acpCommandSchema>;

const eventOf = <T extends string, D extends z.ZodType>(type: T, data: D) => z.object({ type: z.literal(type), data });

/** What an external agent's frames become in the log. */
export const harnessEventSchema = z.discriminatedUnion('type', [
  eventOf('assistant.message', messageEvents['assistant.message']),
  eventOf('user.message', messageEvents['user.message']),
  eventOf('tool.call', toolEvents['tool.call']),
  eventOf('tool.result', toolEvents['tool.result']),
  eventOf('harness.raw', toolEvents['harness.raw']),
]);
export type HarnessEvent = z.infer<typeof harnessEventSchema>;

const reply = { commandId: z.string(), turn: z.number().int(), attempt: z.number().int().min(1) };

/** A batch of one attempt's events. `from`: the worker sequence (from 0, contiguous) of the first. */
export const harnessEventsSchema = z.object({
  ...reply,
  kind: z.literal('harness.events'),
  from: z.number().int().min(0),
  events: z.array(harnessEventSchema).min(1),
});
export type HarnessEvents = z.infer<typeof harnessEventsSchema>;

/** Whose fault an attempt's failure is: the way to the agent, its protocol, or the agent itself (spec 6.6). */
export const harnessErrorSchema = z.object({
  name: z.enum(['Transport', 'Protocol', 'Harness']),
  /** Machine-readable, such as `bridge_lost`, `version`, `unsupported_content`. */
  code: z.string(),
  message: z.string(),
});
export type HarnessError = z.infer<typeof harnessErrorSchema>;

/** The last reply of an attempt, once its process group is gone. */
export const harnessFinishedSchema = z.object({
  ...reply,
  kind: z.literal('harness.finished'),
  /** The worker sequence behind the attempt's last event; null where that is not known: the attempt was given up. */
  from: z.number().int().min(0).nullable(),
  outcome: z.enum(['completed', 'max-tokens', 'max-steps', 'refused', 'aborted', 'error']),
  /** As the agent named it. */
  stopReason: z.string().optional(),
  /** `outcome` error only. */
  error: harnessErrorSchema.optional(),
  /** How the agent's process ended; null: none was started. */
  exit: z.object({ code: z.number().nullable(), signal: z.string().nullable() }).nullable(),
  /** The last 4 KiB of what it wrote to standard error. */
  stderr: z.string(),
});
export type HarnessFinished = z.infer<typeof harnessFinishedSchema>;

export const acpReplySchema = z.discriminatedUnion('kind', [harnessEventsSchema, harnessFinishedSchema]);
export type AcpReply = z.infer<typeof acpReplySchema>;
