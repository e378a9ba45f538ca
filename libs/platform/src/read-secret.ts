import { readFile } from 'node:fs/promises';

/**
 * What `env:<name>` or `file:<name>` stands for: a variable of `env`, or a file's text without the line end at its end. Undefined:
 * there is none, or it cannot be read; the caller names the reference, never the value.
 */
export async function readSecret(kind: string, name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (kind === 'env') return env[name];
  const text = await readFile(name, 'utf8').catch(() => undefined); // whatever the reason
  return text?.replace(/\r?\n$/, '');
}
