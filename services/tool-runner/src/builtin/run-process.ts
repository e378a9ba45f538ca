import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isStopping } from '../tool/stop.js';
import { readThrown } from '../tool/thrown.js';
import { isGroupAlive } from '@jetloop/platform';
import { ToolError } from '../tool/tool-error.js';
import { endProcessGroup, holdProcessGroup } from './process-group.js';

/** After the first process has ended, those behind it may still be writing: the wait for a pause in the output. */
const QUIET_MS = 250;
/** The longest wait for that pause. */
const DRAIN_MS = 5000;

export interface ProcessOptions {
  file: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  timeoutMs?: number;
  /** Between SIGTERM and SIGKILL. */
  graceMs: number;
  /** False ends the process: enough was read. The stream is held up until it answers. */
  onOutput(chunk: Buffer, from: 'stdout' | 'stderr'): Promise<boolean>;
}

export interface ProcessEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** Why we ended it, if we did. */
  endedBy?: 'timeout' | 'aborted' | 'output_limit';
}

/** Runs a program in a process group of its own, without standard input. When this resolves, nobody of the group is left. */
export async function runProcess(options: ProcessOptions): Promise<ProcessEnd> {
  const { file, args, cwd, env, signal, graceMs } = options;
  if (signal.aborted) return { exitCode: null, signal: null, endedBy: 'aborted' };
  const child = await start(() => spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }));
  const { pid, stdout, stderr } = child;
  const release = holdProcessGroup(pid);
  let endedBy: ProcessEnd['endedBy'];
  let ending: Promise<void> | undefined;
  const end = (reason: NonNullable<ProcessEnd['endedBy']>) => {
    endedBy ??= reason;
    ending ??= endProcessGroup(pid, isStopping(signal) ? 0 : graceMs);
  };
  const onAbort = () => {
    end('aborted');
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(end, options.timeoutMs, 'timeout');

  let lastOutput = 0;
  const consume = async (stream: Readable, from: 'stdout' | 'stderr') => {
    for await (const chunk of stream) {
      lastOutput = Infinity;
      const goesOn = !Buffer.isBuffer(chunk) || (await options.onOutput(chunk, from));
      lastOutput = performance.now();
      if (goesOn) continue;
      end('output_limit');
      break;
    }
  };
  const consumed = Promise.all([consume(stdout, 'stdout'), consume(stderr, 'stderr')]);
  // A stream that breaks off has nothing more to give, which is all that matters here.
  const drained = consumed.then(
    () => true,
    () => true,
  );
  try {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const latest = performance.now() + DRAIN_MS;
    while (!ending && (await Promise.race([drained, sleep(QUIET_MS)])) !== true)
      if (performance.now() - lastOutput >= QUIET_MS || performance.now() > latest) break;
    // Left behind in the background by a program that has ended.
    if (!ending && (await isGroupAlive(pid))) ending = endProcessGroup(pid, graceMs);
    await ending;
    // One that left the group could hold the pipe open for ever.
    await Promise.race([drained, sleep(QUIET_MS)]);
  } finally {
    release();
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    stdout.destroy();
    stderr.destroy();
  }
  return { exitCode: child.exitCode, signal: child.signalCode, ...(endedBy === undefined ? {} : { endedBy }) };
}

type Started = ChildProcess & { pid: number; stdout: Readable; stderr: Readable };
const isStarted = (child: ChildProcess): child is Started =>
  child.pid !== undefined && !!child.stdout && !!child.stderr;

async function start(run: () => ChildProcess): Promise<Started> {
  const child = run();
  if (isStarted(child)) return child;
  const [error] = (await once(child, 'error').catch((failure: unknown) => [failure])) as unknown[];
  const reason = readThrown(error).code ?? 'unknown reason';
  throw new ToolError('spawn_failed', `The program could not be started: ${reason}`);
}
