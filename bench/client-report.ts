import { z } from 'zod';

/** What the client process says to the benchmark: first `warm`, after `go` its report. */
export const clientMessageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('warm') }),
  z.object({
    kind: z.literal('report'),
    turns: z.number(),
    seconds: z.number(),
    /** Milliseconds from the start of a step to the start of the next one, as the client sees them. */
    stepMs: z.array(z.number()),
    /** From the call that creates a session to the end of its turn. */
    turnMs: z.array(z.number()),
  }),
]);
export type ClientMessage = z.infer<typeof clientMessageSchema>;
export type ClientReport = Extract<ClientMessage, { kind: 'report' }>;

/** What the benchmark gives the client process, as its one argument. */
export const clientTaskSchema = z.object({
  natsUrl: z.string(),
  workspace: z.string(),
  sessions: z.number().int(),
  /** Whether the model of the measured part takes its time. */
  thinks: z.boolean(),
  turns: z.number().int(),
});
export type ClientTask = z.infer<typeof clientTaskSchema>;
