import { z } from 'zod';

/** Settings of the bridge's process, beside the common ones. */
export const configShape = {
  /** Folders, separated by colons. */
  JETLOOP_WORKSPACE_ROOTS: z.string('expected folders separated by ":"').transform((value) => value.split(':')),
};
