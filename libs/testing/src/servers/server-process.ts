import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { InfraError } from './infra-error.js';

/** How long a server may take to end before it is killed. */
const STOP_GRACE_MS = 5_000;
const POLL_MS = 10;

export interface ServerCommand {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Receives standard output and error. A file, because a pipe would break, or fill, when the parent is gone. */
  readonly logFile: string;
  readonly user?: { readonly uid: number; readonly gid: number };
}

export interface ServerProcess {
  readonly pid: number;
  /** Waits until `probe` finds what it looks for; fails with the end of the log when the server ends first. */
  until<Found>(probe: () => Promise<Found | undefined>, timeoutMs: number): Promise<Found>;
  /** Waits until the program has ended by itself with exit code 0. */
  toEnd(timeoutMs: number): Promise<void>;
  /** Ends the server with the signal, after a grace with SIGKILL. May be called more than once. */
  stop(signal: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a server in a session of its own: Ctrl-C in a terminal reaches the owner alone, which stops the server when its
 * own work is done. The child does not keep the owner's event loop alive.
 */
export async function startProcess(command: ServerCommand): Promise<ServerProcess> {
  const log = await open(command.logFile, 'w', 0o600);
  const child = spawn(command.program, command.args, {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: command.env,
    ...command.user,
  });
  const exited = once(child, 'exit');
  exited.catch(() => undefined); // without a listener a failed spawn is an unhandled rejection; `spawn` below reports it
  try {
    await once(child, 'spawn');
  } catch (cause) {
    throw new InfraError(`${command.name} could not be started from ${command.program}.`, { cause });
  } finally {
    await log.close();
  }
  child.unref();
  const { pid } = child;
  if (pid === undefined) throw new InfraError(`${command.name} has no process id.`);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;

  const failure = async (what: string) => new InfraError(`${command.name} ${what}:\n${await tail(command.logFile)}`);
  const stop = async (signal: NodeJS.Signals) => {
    if (hasEnded()) return;
    child.ref();
    child.kill(signal);
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
    await exited;
    clearTimeout(kill);
  };

  return {
    pid,
    stop,
    until: async (probe, timeoutMs) => {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const found = await probe();
        if (found !== undefined) return found;
        if (hasEnded()) throw await failure('ended while it started');
        if (performance.now() > deadline) throw await failure(`was not ready after ${timeoutMs} ms`);
        await sleep(POLL_MS);
      }
    },
    toEnd: async (timeoutMs) => {
      child.ref();
      const kill = setTimeout(() => void stop('SIGKILL'), timeoutMs);
      await exited;
      clearTimeout(kill);
      if (child.exitCode !== 0) throw await failure(`failed (exit code ${String(child.exitCode)})`);
    },
  };
}

async function tail(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8');
  return text.split('\n').slice(-20).join('\n').trim();
}
