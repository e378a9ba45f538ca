import { readFile } from 'node:fs/promises';
import { PolicyError } from '../policy/policy-error.js';
import { redactSecrets } from '../rules/secrets.js';

const REDACTED = '[redacted]';
/** Shorter values would take half the words out of a text. */
const SHORTEST = 4;

/** Reads what a set names: `env:NAME` or `file:/path` (without the last line feed). @throws PolicyError `secret_missing` */
export async function readSecret(reference: string, env: NodeJS.ProcessEnv): Promise<string> {
  const value = reference.startsWith('env:')
    ? env[reference.slice('env:'.length)]
    : await readFile(reference.slice('file:'.length), 'utf8').catch(() => undefined); // Missing or not readable is one error.
  const secret = value?.replace(/\r?\n$/, '');
  if (secret === undefined || secret === '')
    throw new PolicyError('secret_missing', `expected a value at ${reference}`);
  return secret;
}

export const isReference = (value: string): boolean => /^(?:env:|file:\/)/.test(value);

/** A text without these secrets, and without whatever looks like a credential. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length >= SHORTEST).sort((a, b) => b.length - a.length);
  return redactSecrets(
    known.reduce((hidden, secret) => hidden.replaceAll(secret, REDACTED), text),
    REDACTED,
  );
}
