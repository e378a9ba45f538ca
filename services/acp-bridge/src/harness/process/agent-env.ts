import { readFile } from 'node:fs/promises';
import type { Secrets } from './secrets.js';

const PASSED_ON = ['PATH', 'HOME', 'LANG'];
const REFERENCE = /^(env|file):(.+)$/s;

/** A secret that a spec names and that is not here. */
export class MissingSecretError extends Error {
  override readonly name = 'MissingSecretError';
}

/**
 * What an agent sees of the environment: PATH, HOME, LANG, and what its spec gives. `env:NAME` is that variable of the
 * bridge, `file:/path` that file's text without the line feed at its end: both are added to `secrets`. Anything else is meant
 * as it is written.
 * @throws MissingSecretError
 */
export async function agentEnv(
  spec: Readonly<Record<string, string>>,
  own: NodeJS.ProcessEnv,
  secrets: Secrets,
): Promise<Record<string, string>> {
  const passed = PASSED_ON.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  const given = await Promise.all(
    Object.entries(spec).map(async ([name, value]) => [name, await resolveSecret(name, value, own, secrets)] as const),
  );
  return Object.fromEntries([...passed, ...given]);
}

/** The value that a reference stands for, which is a secret from now on. @throws MissingSecretError */
export async function resolveSecret(
  name: string,
  value: string,
  own: NodeJS.ProcessEnv,
  secrets: Secrets,
): Promise<string> {
  const [, kind, where = ''] = REFERENCE.exec(value) ?? [];
  if (kind === undefined) return value;
  const found =
    kind === 'env'
      ? own[where]
      : await readFile(where, 'utf8').then(
          (text) => text.replace(/\r?\n$/, ''),
          // Missing or unreadable: either way the secret is not here.
          () => undefined,
        );
  if (found === undefined) throw new MissingSecretError(`${name}: the bridge has no ${value}`);
  secrets.add(found);
  return found;
}
