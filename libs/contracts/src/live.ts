import { z } from 'zod';

const base = { turn: z.number().int(), step: z.number().int() };

/**
 * A piece of a model's answer while it streams, on `live.<tenant>.<session>.delta`. `n` is contiguous per attempt;
 * `reset` names an attempt that was superseded and whose text is to be discarded.
 */
export const liveDeltaSchema = z.object({
  ...base,
  attemptId: z.string(),
  n: z.number().int().min(0),
  kind: z.enum(['text', 'reasoning', 'tool-call', 'reset', 'end']),
  text: z.string().optional(),
  /** The external agent's own id of the message, where it gives one. */
  messageId: z.string().optional(),
});
export type LiveDelta = z.infer<typeof liveDeltaSchema>;

/** Output of a running tool, on `live.<tenant>.<session>.tool`. */
export const liveToolSchema = z.object({ ...base, n: z.number().int(), callId: z.string(), text: z.string() });
export type LiveTool = z.infer<typeof liveToolSchema>;

/** Tells workers to stop what they do for a turn, on `live.<tenant>.<session>.abort`. It may get lost. */
export const liveAbortSchema = z.object({ turn: z.number().int() });
export type LiveAbort = z.infer<typeof liveAbortSchema>;
