import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  deserializeMessage,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { LineBuffer, LineOverflowError } from './line-buffer.js';
import { endProcessGroup, holdProcessGroup } from '../builtin/process-group.js';

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Between the end of its input and SIGTERM, and between SIGTERM and SIGKILL (milliseconds). */
const GRACE_MS = 1_000;
const COMPLAINT_LIMIT = 2_000;
/** Bytes of one message. */
const MESSAGE_LIMIT = 10 * 1024 * 1024;

/**
 * Speaks with a server over its standard input and output. The server runs in a process group of its own, so that what it
 * starts ends with it, and it counts as gone when it has exited, whoever still holds its pipes.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #lines = new LineBuffer(MESSAGE_LIMIT);
  #child: ChildProcess | undefined;
  #complaint = '';
  #ending: Promise<void> | undefined;
  #isOverflow = false;

  constructor(private readonly server: StdioServer) {}

  /** The last words on its standard error. */
  get complaint(): string {
    return this.#complaint.trim();
  }

  /** It was ended because it sent a message over the limit. */
  get isOverflow(): boolean {
    return this.#isOverflow;
  }

  async start(): Promise<void> {
    const { command, args, env } = this.server;
    const child = spawn(command, [...args], { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    child.stdout.on('data', (chunk: Buffer) => {
      this.#read(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.#complaint = `${this.#complaint}${chunk.toString()}`.slice(-COMPLAINT_LIMIT);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on('error', (error: Error) => this.onerror?.(error));
    await once(child, 'spawn');
    child.on('error', (error) => this.onerror?.(error));
    this.#endWith(child);
  }

  send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input?.writable) return Promise.reject(new Error('the server is gone'));
    return new Promise((resolve, reject) => {
      input.write(serializeMessage(message), (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Resolves when nobody of its process group is left. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.stdin?.end();
    if (child.exitCode === null && child.signalCode === null) await exitWithin(child, GRACE_MS);
    await this.#endGroup(child.pid);
  }

  #endWith(child: ChildProcess): void {
    const { pid } = child;
    if (pid === undefined) return;
    const release = holdProcessGroup(pid);
    child.once('exit', () => {
      this.onclose?.();
      void this.#endGroup(pid).finally(release);
    });
  }

  #endGroup(pid: number): Promise<void> {
    this.#ending ??= endProcessGroup(pid, GRACE_MS);
    return this.#ending;
  }

  #read(chunk: Buffer): void {
    // Nothing that follows too long a line could be told apart.
    if (this.#isOverflow) return;
    try {
      for (const line of this.#lines.take(chunk)) this.#accept(line);
    } catch (error) {
      this.onerror?.(asError(error));
      if (!(error instanceof LineOverflowError)) return;
      this.#isOverflow = true;
      void this.close();
    }
  }

  /** What is no message is what servers print: it is passed over. */
  #accept(line: string): void {
    try {
      this.onmessage?.(deserializeMessage(line));
    } catch (error) {
      this.onerror?.(asError(error));
    }
  }
}

async function exitWithin(child: ChildProcess, milliseconds: number): Promise<void> {
  await once(child, 'exit', { signal: AbortSignal.timeout(milliseconds) }).catch(() => undefined);
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));
