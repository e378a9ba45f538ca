import { InvalidTokenError, requireToken } from '@jetloop/contracts';
import { CommandRefusedError } from '../errors.js';

/** The value, if it can be a token of a subject. @throws CommandRefusedError `invalid` */
export function token(field: string, value: string): string {
  try {
    return requireToken(field, value);
  } catch (error) {
    if (error instanceof InvalidTokenError) throw new CommandRefusedError('invalid', error.message);
    throw error;
  }
}
