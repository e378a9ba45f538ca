import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Finding } from './finding.js';

const run = promisify(execFile);
const TIMEOUT_MS = 5_000;

/** Whether a program is on the path, and in which version. */
export async function inspectProgram(name: string, env: NodeJS.ProcessEnv, purpose: string): Promise<Finding> {
  try {
    const { stdout } = await run(name, ['--version'], { timeout: TIMEOUT_MS, env });
    return { name, state: 'ok', detail: stdout.split('\n', 1)[0] ?? '' };
  } catch (error) {
    const isAbsent = typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
    const detail = isAbsent
      ? 'not on the path'
      : `does not run: ${error instanceof Error ? error.message : String(error)}`;
    return { name, state: 'optional', detail, remedy: purpose };
  }
}
