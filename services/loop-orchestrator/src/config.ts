import { commonConfig } from '@jetloop/platform';
import { z } from 'zod';

export const configSchema = z.object({
  ...commonConfig,
  /** Folders, separated by colons. */
  JETLOOP_WORKSPACE_ROOTS: z.string('expected folders separated by ":"').transform((value) => value.split(':')),
  JETLOOP_ALLOW_INLINE_AGENTS: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
});
