import { stat } from 'node:fs/promises';
import { PolicyError } from '../../policy/policy-error.js';
import type { CommandForm } from '../../rules/policy-forms.schema.js';
import { hideSecrets, isReference, readSecret } from '../secrets.js';
import { MAX_ANSWER, type HookTransport } from '../transport.js';
import { runCommand, type CommandEnd } from './run-command.js';
import { scrubbedEnv } from './scrubbed-env.js';

/** Asks a command: the event on standard input, the answer in its exit code and output. */
export function commandTransport({ run: line, env: added }: CommandForm, env: NodeJS.ProcessEnv): HookTransport {
  return async (input, { signal, workspace }, run) => {
    const { values, secrets } = await resolve(added, env);
    const decoder = new TextDecoder();
    const end = await runCommand({
      line,
      input,
      cwd: await folderOf(workspace),
      env: { ...scrubbedEnv(env), ...values },
      signal,
      maxOutput: MAX_ANSWER,
      onStderr: (chunk) => {
        run.stderr = hideSecrets(run.stderr + decoder.decode(chunk, { stream: true }), secrets);
      },
    });
    if (end.code === 0) return { kind: 'answer', bytes: end.stdout, plainText: true };
    if (end.code === 2) return { kind: 'refusal', reason: run.stderr.trim() };
    throw failureOf(end);
  };
}

function failureOf({ code, signal }: CommandEnd): PolicyError {
  if (code === null)
    return new PolicyError('killed', `the command was killed by ${String(signal)}`, `killed by ${String(signal)}`);
  const meaning = code === 127 ? ' (command not found)' : code === 126 ? ' (cannot be executed)' : '';
  return new PolicyError(`exit_${code}`, `expected exit code 0 or 2, got ${code}${meaning}`, `exit ${code}`);
}

/** The session's workspace, where this machine has it. */
async function folderOf(workspace: string | undefined): Promise<string> {
  if (workspace === undefined) return process.cwd();
  const found = await stat(workspace).catch(() => undefined); // Not there, or not for us: the same answer.
  return found?.isDirectory() ? workspace : process.cwd();
}

async function resolve(added: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv) {
  const values: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(added)) {
    values[name] = isReference(value) ? await readSecret(value, env) : value;
    if (isReference(value)) secrets.push(values[name]);
  }
  return { values, secrets };
}
