import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { PolicyError } from '../../policy/policy-error.js';

/** Milliseconds that the output may still take once the shell has ended. */
const DRAIN_MS = 200;

export interface CommandOptions {
  /** For `/bin/sh -c`. */
  readonly line: string;
  readonly input: Uint8Array;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Kills the whole process group when it aborts. */
  readonly signal: AbortSignal;
  /** Bytes of each of the two outputs. */
  readonly maxOutput: number;
  /** What it writes on standard error, as it comes. */
  readonly onStderr: (chunk: Buffer) => void;
}

export interface CommandEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
}

/**
 * Runs a command line in a process group of its own. When this resolves nobody of the group is left: what runs in the
 * background ends with the command.
 * @throws PolicyError `output_too_large`, `spawn_failed`
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { line, cwd, env, signal, maxOutput } = options;
  signal.throwIfAborted();
  const child = spawn('/bin/sh', ['-c', line], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const { pid } = child;
  if (pid === undefined) throw await spawnError(child);
  const kill = (): void => {
    killGroup(pid);
  };
  signal.addEventListener('abort', kill, { once: true });
  const tooLarge = new AbortController();
  const overflow = (): void => {
    tooLarge.abort();
    kill();
  };
  const stdout = collect(child.stdout, maxOutput, overflow);
  const stderr = collect(child.stderr, maxOutput, overflow, options.onStderr);
  // A hook need not read what it is told.
  child.stdin.on('error', () => undefined).end(options.input);
  try {
    await exitOf(child);
    const drained = Promise.all([stdout.ended, stderr.ended]);
    await Promise.race([drained, sleep(DRAIN_MS)]);
    kill();
    await Promise.race([drained, sleep(DRAIN_MS)]);
  } finally {
    signal.removeEventListener('abort', kill);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  }
  if (tooLarge.signal.aborted) {
    throw new PolicyError('output_too_large', `expected at most ${maxOutput} bytes of output, got more`);
  }
  return { code: child.exitCode, signal: child.signalCode, stdout: stdout.bytes() };
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

async function exitOf(child: Child): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function spawnError(child: Child): Promise<PolicyError> {
  const [error] = (await once(child, 'error')) as [Error];
  return new PolicyError('spawn_failed', `the shell could not be started: ${error.message}`);
}

function collect(stream: Readable, most: number, overflow: () => void, onChunk?: (chunk: Buffer) => void) {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > most) {
      overflow();
      return;
    }
    chunks.push(chunk);
    onChunk?.(chunk);
  });
  // A pipe that breaks has nothing more to give.
  const ended = once(stream, 'close').catch(() => undefined);
  return { ended, bytes: () => Buffer.concat(chunks) };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: nobody is left, which is what is wanted.
  }
}
