import { z } from 'zod';

const Thrown = z.object({
  name: z.string(),
  message: z.string(),
  code: z.string().optional().catch(undefined),
  /** Set by the system's own errors alone. */
  syscall: z.string().optional().catch(undefined),
});

/** What was thrown, read by its shape: plugged-in code may throw anything, also errors of another realm that are no `instanceof Error`. */
export function readThrown(thrown: unknown): z.output<typeof Thrown> {
  const parsed = Thrown.safeParse(thrown);
  return parsed.success ? parsed.data : { name: 'Error', message: 'something was thrown that is not an error' };
}
