import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** The program of the command. */
export const JETLOOP = join(import.meta.dirname, '../../../services/cli/bin/jetloop.js');
/** Milliseconds: a process starts slowly where many do. */
const WAIT_MS = 90_000;

/** What a frame holds: a request, a notification or an answer. */
const frameSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.number(), z.string(), z.null()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({}).optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
});
export type Frame = z.infer<typeof frameSchema>;

export interface UpdateFrame {
  readonly sessionUpdate: string;
  readonly messageId?: string;
  readonly toolCallId?: string;
  readonly status?: string;
  readonly content?: { readonly type?: string; readonly text?: string };
  readonly [key: string]: unknown;
}

export interface EditorOptions {
  readonly natsUrl: string;
  readonly tenant: string;
  readonly agent: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A scripted editor: `jetloop acp` in a process of its own, over real pipes. It sends any bytes and keeps every frame. */
export class AcpEditor {
  /** All that came, in order. A line that is no frame fails the test. */
  readonly frames: Frame[] = [];
  private readonly waiting = new Set<() => void>();
  private nextId = 1;
  private rest = '';
  private failure: Error | undefined;
  err = '';
  readonly exited: Promise<number | NodeJS.Signals>;

  private constructor(readonly child: ChildProcessByStdio<Writable, Readable, Readable>) {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.read(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    child.stdin.on('error', () => undefined); // It may have ended: the test sees that by its exit.
    this.exited = once(child, 'exit').then(([code, signal]: unknown[]) => {
      this.wake();
      return (signal ?? code) as number | NodeJS.Signals;
    });
  }

  static start({ natsUrl, tenant, agent, env = {} }: EditorOptions): AcpEditor {
    const args = [JETLOOP, 'acp', '--agent', agent, '--tenant', tenant, '--nats', natsUrl];
    const child = spawn(process.execPath, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    });
    return new AcpEditor(child);
  }

  write(bytes: string | Uint8Array): void {
    this.child.stdin.write(bytes);
  }

  send(frame: unknown): void {
    this.write(`${JSON.stringify(frame)}\n`);
  }

  /** Sends a request. @returns its id */
  request(method: string, params: unknown): number {
    const id = this.nextId++;
    this.send({ jsonrpc: '2.0', id, method, params });
    return id;
  }

  notify(method: string, params: unknown): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  answer(id: Frame['id'], result: unknown): void {
    this.send({ jsonrpc: '2.0', id, result });
  }

  /** The answer to a request. */
  async response(id: number): Promise<Frame> {
    return this.until((frame) => frame.id === id && frame.method === undefined, `the answer to ${id}`);
  }

  /** Sends a request and gives its answer. */
  async ask(method: string, params: unknown): Promise<Frame> {
    return this.response(this.request(method, params));
  }

  /** Sends a request and gives its result. @throws Error with the answer's error */
  async call<T = Record<string, unknown>>(method: string, params: unknown): Promise<T> {
    const { result, error } = await this.ask(method, params);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as T;
  }

  /** A new session in a folder. @returns its id */
  async newSession(cwd: string): Promise<string> {
    return (await this.call<{ sessionId: string }>('session/new', { cwd, mcpServers: [] })).sessionId;
  }

  /** Sends a prompt. @returns the id of the request */
  prompt(sessionId: string, text: string): number {
    return this.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  }

  /** Sends a prompt and gives its answer. */
  async prompted(sessionId: string, text: string): Promise<Frame> {
    return this.response(this.prompt(sessionId, text));
  }

  /** The first frame of a kind, which may have come before. @param from index of the first frame that counts */
  async until(matches: (frame: Frame) => boolean, what: string, from = 0): Promise<Frame> {
    const deadline = Date.now() + WAIT_MS;
    for (let at = from; ;) {
      for (; at < this.frames.length; at++) {
        const frame = this.frames[at];
        if (frame && matches(frame)) return frame;
      }
      if (this.failure) throw this.failure;
      if (this.child.exitCode !== null) throw new Error(`ended before ${what}: ${this.err}`);
      if (Date.now() > deadline) throw new Error(`waited too long for ${what}; stderr: ${this.err}`);
      await this.change(Math.max(1, deadline - Date.now()));
    }
  }

  /** The first update that matches. */
  async untilUpdate(
    sessionId: string,
    matches: (update: UpdateFrame) => boolean,
    what: string,
    from = 0,
  ): Promise<UpdateFrame> {
    const frame = await this.until((one) => this.isUpdate(one, sessionId) && matches(updateIn(one)), what, from);
    return updateIn(frame);
  }

  /** The next request of a method that the agent makes. */
  async asked(method: string, from = 0): Promise<Frame> {
    return this.until((frame) => frame.method === method && frame.id !== undefined, method, from);
  }

  /** All updates of a session so far, between two indices of frames. */
  updates(sessionId: string, from = 0, to = this.frames.length): UpdateFrame[] {
    return this.frames
      .slice(from, to)
      .filter((frame) => this.isUpdate(frame, sessionId))
      .map(updateIn);
  }

  /** Index of a frame. */
  indexOf(frame: Frame): number {
    return this.frames.indexOf(frame);
  }

  /** Waits until it has read so many bytes, and then neither reads nor writes any more: it is idle, or waits for us. */
  async settled(least: number): Promise<void> {
    const start = await this.bytes('rchar');
    for (let before = -1, now = start; before !== now || now - start < least; now = await this.bytes('rchar')) {
      before = now;
      await sleep(1_000);
    }
  }

  /** Bytes that it has read or written so far, sockets and pipes included. */
  async bytes(which: 'rchar' | 'wchar'): Promise<number> {
    const io = await readFile(`/proc/${String(this.child.pid)}/io`, 'utf8');
    return Number(new RegExp(`${which}: (\\d+)`).exec(io)?.[1]);
  }

  /** Ends the input. @returns the exit code or signal */
  async end(): Promise<number | NodeJS.Signals> {
    this.child.stdin.end();
    return this.exited;
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }

  private isUpdate(frame: Frame, sessionId: string): boolean {
    return frame.method === 'session/update' && frame.params?.['sessionId'] === sessionId;
  }

  private read(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      try {
        this.frames.push(frameSchema.parse(JSON.parse(line)));
      } catch {
        this.failure = new Error(`not a frame on standard output: ${line.slice(0, 500)}`);
      }
    }
    this.wake();
  }

  private wake(): void {
    for (const wake of this.waiting) wake();
  }

  private change(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.waiting.add(done);
    });
  }
}

function updateIn(frame: Frame): UpdateFrame {
  return frame.params?.['update'] as UpdateFrame;
}

/** All text of chunks of one kind, in order. */
export function textIn(updates: readonly UpdateFrame[], kind = 'agent_message_chunk'): string {
  return updates
    .filter(({ sessionUpdate }) => sessionUpdate === kind)
    .map(({ content }) => content?.text ?? '')
    .join('');
}
