import { requireToken } from '@jetloop/contracts';
import { UsageError } from '../usage-error.js';

/** Checks an id of the command line before anything is started. @throws UsageError */
export function checkToken(option: string, value: string): string {
  try {
    return requireToken(option, value);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
