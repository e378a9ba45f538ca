import { z } from 'zod';

/** What a tenant or session id must match: it becomes one token of a NATS subject and is never escaped (spec 1.2). */
export const TOKEN_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/** Schema of a tenant, session or message id. */
export const tokenSchema = z.string().regex(TOKEN_PATTERN, 'expected 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-"');

/** An id that cannot be a subject token. The message names the value (shortened) and what was expected. */
export class InvalidTokenError extends Error {
  readonly code = 'invalid';
  constructor(
    readonly field: string,
    readonly value: string,
  ) {
    const shown = value.length > 40 ? `${value.slice(0, 40)}…` : value;
    super(`${field} ${JSON.stringify(shown)} is not valid: expected 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-"`);
    this.name = 'InvalidTokenError';
  }
}

/** Returns `value` if it can be a subject token. @throws InvalidTokenError otherwise. */
export function requireToken(field: string, value: string): string {
  if (!TOKEN_PATTERN.test(value)) throw new InvalidTokenError(field, value);
  return value;
}
