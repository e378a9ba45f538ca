import { z } from 'zod';

/** What a service gave up, on `dead.<service>.<tenant>` (spec 8.1). */
export const deadLetterSchema = z.object({
  service: z.string(),
  class: z.enum(['terminal', 'parked', 'late', 'expired']),
  code: z.string(),
  reason: z.string(),
  subject: z.string(),
  headers: z.record(z.string(), z.string()),
  stream: z.string(),
  streamSequence: z.number().int(),
  deliveries: z.number().int(),
  at: z.string(),
  /** The body as text; of tool replies, post-tool commands and model calls that ask for an object only its digest and size. */
  body: z.union([z.object({ text: z.string() }), z.object({ digest: z.string(), size: z.number() })]),
});
export type DeadLetter = z.infer<typeof deadLetterSchema>;
