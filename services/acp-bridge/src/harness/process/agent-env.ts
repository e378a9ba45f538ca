import { readSecret } from '@jetloop/platform';
import type { Secrets } from './secrets.js';

const PASSED_ON = ['PATH', 'HOME', 'LANG'];
/** Alone, or as the last word: then its path has no spaces. */
const REFERENCE = /^(?<kind>env|file):(?<where>.+)$/s;
const LAST_WORD = /^(?<before>.*\s)(?<kind>env|file):(?<where>\S+)$/s;

/** A secret that a spec names and that is not here. */
export class MissingSecretError extends Error {
  override readonly name = 'MissingSecretError';
}

/**
 * What an agent sees of the environment: PATH, HOME, LANG, and what its spec gives. `env:NAME` is that variable of the
 * bridge, `file:/path` that file's text without the line feed at its end, alone or as the last word (`Bearer env:TOKEN`): both are
 * added to `secrets`. Anything else is meant as it is written.
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

/** The value with its secret in place of the reference, which is one from now on. @throws MissingSecretError */
export async function resolveSecret(
  name: string,
  value: string,
  own: NodeJS.ProcessEnv,
  secrets: Secrets,
): Promise<string> {
  const { before = '', kind, where = '' } = (REFERENCE.exec(value) ?? LAST_WORD.exec(value))?.groups ?? {};
  if (kind === undefined) return value;
  const found = await readSecret(kind, where, own);
  if (found === undefined) throw new MissingSecretError(`${name}: the bridge has no ${kind}:${where}`);
  secrets.add(found);
  return `${before}${found}`;
}
