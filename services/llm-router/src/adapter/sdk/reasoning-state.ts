import { z } from 'zod';

/** The opaque words of the providers that must come back with what they came with. */
const metadataSchema = z
  .object({
    /** Anthropic, of a thinking block. */
    signature: z.string().min(1).optional(),
    /** Anthropic: a thinking block that nobody may read. */
    redactedData: z.string().min(1).optional(),
    /** Google, of a part of any kind. */
    thoughtSignature: z.string().min(1).optional(),
  })
  .transform((words): Record<string, string> =>
    Object.fromEntries(Object.entries(words).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  );
export type Metadata = z.output<typeof metadataSchema>;

/** What is kept in the log as the state of a block: on which kind of part it goes back, and the words themselves. */
const stateSchema = z.object({ on: z.enum(['reasoning', 'text', 'call']), metadata: metadataSchema });
export type ReasoningState = z.output<typeof stateSchema>;

/** The metadata of an SDK part, as far as it is reasoning state; undefined: it has none. */
export function metadataOf(value: unknown): Metadata | undefined {
  const parsed = metadataSchema.safeParse(value);
  return parsed.success && Object.keys(parsed.data).length > 0 ? parsed.data : undefined;
}

/** The state that a block of the log holds; undefined: it is not of this shape. */
export function stateOf(value: unknown): ReasoningState | undefined {
  const parsed = stateSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
