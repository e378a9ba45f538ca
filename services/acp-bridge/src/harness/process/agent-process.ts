import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalGroup, untilGroupGone } from '@jetloop/platform';
import type { GroupReaper } from './group-reaper.js';
import { LineSplitter } from './line-splitter.js';
import type { Secrets } from './secrets.js';
import { Tail } from './tail.js';

/** Bytes that one frame may have. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024;
const STDERR_BYTES = 4096;
/** A pause in the output of a process that has ended, after which all of it is there (milliseconds). */
const DRAIN_MS = 250;
/** What may still come of a process that has ended: more than a pipe holds, and in so many pauses. The rest is somebody else's. */
const MAX_LEFT_BYTES = 2 * 1024 * 1024;
const MAX_DRAINS = 20;
/** Bytes that may wait until the agent reads them: over it, its own output waits too. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

/** Why the output of an agent is not read. */
export type Hold = 'handshake' | 'log' | 'input';

/** How an agent's process ended. */
export interface AgentExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface AgentProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What must not be told of it. */
  readonly secrets: Secrets;
}

export interface AgentListener {
  onLine(line: Buffer): void;
  /** A frame is longer than allowed: nothing more is read. */
  onOverflow(): void;
  /** The process has ended, and all of its output was delivered. */
  onExit(exit: AgentExit): void;
  /** What we wrote could not be delivered. */
  onBrokenPipe(): void;
}

/** An external agent as a child process: without a shell, in a process group of its own. */
export class AgentProcess {
  private readonly stderr: Tail;
  private readonly exited: Promise<AgentExit>;
  private readonly holds = new Set<Hold>();
  private lastOutput = 0;
  /** Bytes that are still read; undefined while the process lives. */
  private left: number | undefined;

  private constructor(
    private readonly child: ChildProcessByStdio<Writable, Readable, Readable>,
    private readonly group: number,
    private readonly reaper: GroupReaper,
    private readonly secrets: Secrets,
    listener: AgentListener,
  ) {
    this.stderr = new Tail(STDERR_BYTES + secrets.longest);
    reaper.watch(group);
    const { stdin, stdout, stderr } = child;
    stdin.on('error', () => {
      listener.onBrokenPipe();
    });
    stderr.on('data', (piece: Buffer) => {
      this.stderr.push(piece);
    });
    const drained = this.read(stdout, listener);
    this.exited = once(child, 'exit').then(async (): Promise<AgentExit> => {
      this.left = MAX_LEFT_BYTES;
      await this.untilDrained(drained);
      return { code: child.exitCode, signal: child.signalCode };
    });
    void this.exited.then((exit) => {
      listener.onExit(exit);
    });
  }

  /** @throws the system's error when the program cannot be started */
  static async start(program: AgentProgram, reaper: GroupReaper, listener: AgentListener): Promise<AgentProcess> {
    const { command, args, cwd, env, secrets } = program;
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    if (child.pid !== undefined) return new AgentProcess(child, child.pid, reaper, secrets, listener);
    const [error] = (await once(child, 'error')) as [Error];
    throw error;
  }

  /** Writes a frame. */
  write(line: string): void {
    const { stdin } = this.child;
    if (!stdin.writable) return;
    stdin.write(`${line}\n`);
    if (stdin.writableLength <= MAX_UNREAD_BYTES || this.holds.has('input')) return;
    this.hold('input');
    stdin.once('drain', () => {
      this.release('input');
    });
  }

  /** No more output is read while there is a reason for that. */
  hold(reason: Hold): void {
    this.holds.add(reason);
    this.child.stdout.pause();
  }

  release(reason: Hold): void {
    if (this.holds.delete(reason) && this.holds.size === 0) this.child.stdout.resume();
  }

  /**
   * Closes its input, sends SIGTERM to the group after `terminateMs` and SIGKILL after `killMs` (both from now; 0: at
   * once), and resolves when nobody of the group is left.
   */
  async end(terminateMs: number, killMs: number): Promise<AgentExit> {
    this.child.stdin.end();
    const signals = [
      ['SIGTERM', terminateMs],
      ['SIGKILL', killMs - terminateMs],
    ] as const;
    for (const [signal, afterMs] of signals) {
      if (await untilGroupGone(this.group, afterMs)) break;
      signalGroup(this.group, signal);
    }
    // What is stuck in the kernel dies when it comes back from there.
    while (!(await untilGroupGone(this.group, 1_000))) signalGroup(this.group, 'SIGKILL');
    // There is no more of it than a pipe holds.
    for (const reason of this.holds) this.release(reason);
    const exit = await this.exited;
    this.reaper.forget(this.group);
    this.child.stdout.destroy();
    this.child.stderr.destroy();
    return exit;
  }

  /** The last of what it wrote to standard error, without secrets. */
  stderrTail(): string {
    return this.secrets.tail(this.stderr.bytes, STDERR_BYTES);
  }

  /** Somebody whom it left behind may hold the pipe open, and write: a pause in the output is its end as well, or its length. */
  private async untilDrained(drained: Promise<void>): Promise<void> {
    const { stdout } = this.child;
    for (let drains = 0; drains < MAX_DRAINS && !stdout.closed;) {
      await Promise.race([drained, sleep(DRAIN_MS)]);
      if (stdout.isPaused()) continue;
      if (performance.now() - this.lastOutput >= DRAIN_MS) return;
      drains++;
    }
    stdout.destroy();
    await drained;
  }

  private read(stdout: Readable, listener: AgentListener): Promise<void> {
    const splitter = new LineSplitter(MAX_FRAME_BYTES);
    let isOver = false;
    const deliver = (lines: readonly Buffer[]) => {
      for (const line of lines) listener.onLine(line);
    };
    stdout.on('data', (piece: Buffer) => {
      this.lastOutput = performance.now();
      if (isOver) return;
      if (this.left !== undefined) {
        this.left -= piece.length;
        if (this.left < 0) stdout.destroy();
      }
      const { lines, overflow } = splitter.push(piece);
      deliver(lines);
      if (!overflow) return;
      isOver = true;
      listener.onOverflow();
    });
    return new Promise((resolve) => {
      stdout.once('close', () => {
        if (!isOver) deliver(splitter.end());
        resolve();
      });
    });
  }
}
