import { z } from 'zod';

/** Settings of the orchestrator, from its environment. */
export const configShape = {
  /** Folders, separated by colons. */
  JETLOOP_WORKSPACE_ROOTS: z.string('expected folders separated by ":"').transform((value) => value.split(':')),
  JETLOOP_ALLOW_INLINE_AGENTS: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
};
