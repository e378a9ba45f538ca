import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentSpecInput, Json } from '@jetloop/contracts';

type Request = { readonly id: number; readonly params: { readonly sessionId: string; readonly prompt: unknown } };
type Options = readonly { readonly optionId: string; readonly kind: string; readonly name: string }[];

/** What a script can do: see `agent-program.mjs`. */
export interface Agent {
  readonly args: Json;
  session: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  sleep(ms: number): Promise<void>;
  raw(bytes: string | Uint8Array): Promise<void>;
  send(message: Record<string, unknown>): Promise<void>;
  update(tag: string, fields?: Record<string, unknown>, session?: string): Promise<void>;
  say(text: string, more?: Record<string, unknown>): Promise<void>;
  answer(request: Request, result: unknown): Promise<void>;
  fail(request: Request, error: unknown): Promise<void>;
  next(method: string): Promise<Request>;
  request(id: unknown, method: string, params: unknown): Promise<Record<string, unknown>>;
  ask(id: unknown, options: Options, more?: Record<string, unknown>): Promise<Record<string, unknown>>;
  initialize(capabilities?: Record<string, unknown>): Promise<void>;
  handshake(capabilities?: Record<string, unknown>): Promise<void>;
  prompted(capabilities?: Record<string, unknown>): Promise<Request>;
  stop(request: Request, reason?: string): Promise<void>;
  untilClosed(): Promise<void>;
}

type Harness = NonNullable<AgentSpecInput['harness']>;

/** An agent program that plays a script, and what it was sent. */
export class ScriptedAgent {
  private constructor(
    readonly spec: Pick<AgentSpecInput, 'harness' | 'model'>,
    private readonly wireFile: string,
  ) {}

  /** @param script self-contained: its text runs in the agent's process; `args` are what it may read of this one */
  static async write(
    folder: string,
    script: (agent: Agent) => Promise<void>,
    harness: Partial<Harness> & { readonly script?: Json } = {},
  ): Promise<ScriptedAgent> {
    const file = join(folder, `script-${randomUUID()}.json`);
    const wireFile = `${file}.wire`;
    const { script: args = null, ...more } = harness;
    await writeFile(file, JSON.stringify({ code: script.toString(), args }));
    await writeFile(wireFile, '');
    const program = join(import.meta.dirname, 'agent-program.mjs');
    return new ScriptedAgent(
      {
        harness: {
          kind: 'acp',
          command: process.execPath,
          args: [program, file, wireFile],
          permissionPolicy: 'deny',
          ...more,
        },
      },
      wireFile,
    );
  }

  /** Every line that it was sent, over all its processes. */
  async wire(): Promise<string[]> {
    return (await readFile(this.wireFile, 'utf8')).split('\n').filter((line) => line !== '');
  }

  async methods(): Promise<string[]> {
    return (await this.wire()).map((line) => {
      const { method } = JSON.parse(line) as { method?: string };
      return method ?? 'answer';
    });
  }
}

/** Sources of the frames in a log, and the types of its other events. */
export function storyOf(events: readonly { readonly type: string; readonly data: unknown }[]): string[] {
  return events.map(({ type, data }) => (type === 'harness.raw' ? (data as { source: string }).source : type));
}
