import { AttemptFailure } from './attempt-failure.js';
import { llmError } from './provider-error.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The key in the variable that a target names; undefined: it names none.
 * @throws AttemptFailure auth, when the variable is not set
 */
export function apiKey(env: Environment, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const key = env[name]?.trim();
  if (key) return key;
  throw new AttemptFailure(llmError('auth', `expected the API key in the environment variable ${name}: it is not set`));
}
