import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface RunOptions {
  readonly cwd?: string;
  readonly timeoutMs: number;
}

/** Runs a program to its end and returns its standard output; a failure carries its standard error. */
export async function runProgram(file: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { cwd, timeoutMs } = options;
  const { stdout } = await execute(file, args, {
    ...(cwd === undefined ? {} : { cwd }),
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}
