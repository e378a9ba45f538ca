import { readSecret } from '@jetloop/platform';

/** A secret that a server's configuration names cannot be had. The message names it, never its value. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

const REFERENCE = /^(|.*\s)(env|file):(\S+)$/s;

/**
 * Values of `env` and `headers`, with secrets put in: `env:NAME` and `file:PATH` stand for a secret, alone or as the last word
 * (`Bearer env:TOKEN`); every other value is taken as it is. A file's last line end does not count.
 * @throws SecretError
 */
export async function withSecrets(
  values: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  const resolved = Object.entries(values).map(async ([name, value]) => [name, await resolve(value, env)] as const);
  return Object.fromEntries(await Promise.all(resolved));
}

async function resolve(value: string, env: NodeJS.ProcessEnv): Promise<string> {
  const [, before = '', kind, name = ''] = REFERENCE.exec(value) ?? [];
  if (kind === undefined) return value;
  const secret = await readSecret(kind, name, env);
  if (secret === undefined) throw new SecretError(`the secret ${kind}:${name} is not there`);
  return `${before}${secret}`;
}
