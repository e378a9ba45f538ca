import { folderList } from '@jetloop/platform';
import { z } from 'zod';
import { MAX_CACHED_SESSIONS } from './options.js';

/** Settings of the orchestrator, from its environment. */
export const configShape = {
  JETLOOP_WORKSPACE_ROOTS: folderList,
  JETLOOP_ALLOW_INLINE_AGENTS: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true'),
  /** Sessions whose state is kept in memory, at most: what bounds the memory of this process. */
  JETLOOP_MAX_CACHED_SESSIONS: z.coerce
    .number()
    .int('expected a whole number of sessions')
    .min(1, 'expected at least 1 session')
    .default(MAX_CACHED_SESSIONS),
};
