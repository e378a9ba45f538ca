import { z } from 'zod';

/** What every work command carries. `commandId` is the work id of spec 1.3, with the attempt at its end. */
export const workShape = {
  commandId: z.string(),
  tenant: z.string(),
  session: z.string(),
  turn: z.number().int(),
  step: z.number().int(),
  /** Which work of the step: `llm`, `tool.<n>`, `hook.<seam>…`, `list`, `compact`, `acp`. */
  what: z.string(),
  attempt: z.number().int().min(1),
  /** The event (sequence) up to which the worker reads the session. */
  upTo: z.number().int(),
  /** RFC 3339: when the work became outstanding. */
  since: z.string(),
  /** RFC 3339: after it the work is not begun any more. */
  deadline: z.string(),
};
