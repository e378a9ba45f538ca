import { z } from 'zod';

/**
 * Arguments of a call as a provider gives them: text, or the value itself from servers that parse it. Any value is taken:
 * one that is no object is a call with broken arguments, not a broken answer. undefined: none were given.
 */
export const givenArguments = z
  .unknown()
  .transform((given): string | undefined => {
    if (given === undefined || given === null) return undefined;
    return typeof given === 'string' ? given : JSON.stringify(given);
  })
  .optional();
