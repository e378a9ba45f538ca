import {
  agentSpecSchema,
  subjects,
  toolReplySchema,
  type Commit,
  type SessionEvent,
  type ToolCommand,
  type ToolReply,
} from '@jetloop/contracts';
import { Journal, type Bus } from '@jetloop/messaging';

const TENANT = 'bench';
/** Calls that a session's log holds. */
const CALLS_A_SESSION = 10;
const COMMITS_AT_ONCE = 32;

type CallCommand = Extract<ToolCommand, { op: 'call' }>;
type CallResult = Extract<ToolReply['result'], { status: 'result' }>;

interface Tool {
  readonly name: string;
  readonly args: CallCommand['effective'];
}

/** Sends tool calls as the orchestrator does: a session's log in the journal, a command, a reply in the inbox. */
export class ToolLoad {
  private readonly waiting = new Map<string, (result: ToolReply['result']) => void>();
  private sessions = 0;
  private readonly bus: Bus;
  private readonly workspace: string;

  constructor(bus: Bus, workspace: string) {
    this.bus = bus;
    this.workspace = workspace;
    bus.nats.subscribe(`cmd.session.${TENANT}.*.tool`, {
      callback: (_error, message) => {
        const { commandId, result } = toolReplySchema.parse(message.json());
        this.waiting.get(commandId)?.(result);
        this.waiting.delete(commandId);
      },
    });
  }

  /** Writes the logs of sessions with so many calls of a tool, ten in each. */
  async prepare(count: number, tool: Tool): Promise<CallCommand[]> {
    const journal = new Journal(this.bus);
    const prepared: CallCommand[] = [];
    while (prepared.length < count) {
      const sessions = Array.from({ length: COMMITS_AT_ONCE }, () => `s${this.sessions++}`);
      await Promise.all(sessions.map((session) => journal.commit(this.commitOf(session, tool), 0)));
      prepared.push(...sessions.flatMap((session) => this.commandsOf(session, tool)));
    }
    return prepared.slice(0, count);
  }

  /** @returns milliseconds from each command to its reply. @throws Error when a call fails or is late */
  async run(commands: readonly CallCommand[], atOnce: number, patienceMs: number): Promise<number[]> {
    const left = commands.values();
    const times: number[] = [];
    const signal = AbortSignal.timeout(patienceMs);
    const lane = async () => {
      for (const command of left) {
        const started = performance.now();
        await this.call(command, signal);
        times.push(performance.now() - started);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
    return times;
  }

  async call(command: CallCommand, signal: AbortSignal): Promise<CallResult> {
    const replied = new Promise<ToolReply['result']>((resolve, reject) => {
      this.waiting.set(command.commandId, resolve);
      signal.addEventListener('abort', () => {
        reject(new Error('the reply did not come in time'));
      });
    });
    void this.bus.publisher.publish(subjects.work('tool', TENANT), Buffer.from(JSON.stringify(command)), {
      'Nats-Msg-Id': command.commandId,
    });
    const result = await replied;
    if (result.status !== 'result' || result.isError)
      throw new Error(`a call failed: ${JSON.stringify(result).slice(0, 300)}`);
    return result;
  }

  private commandsOf(session: string, { name, args }: Tool): CallCommand[] {
    const now = Date.now();
    return Array.from({ length: CALLS_A_SESSION }, (_, n): CallCommand => ({
      commandId: `${TENANT}.${session}.1.1.tool.${n}.1`,
      tenant: TENANT,
      session,
      turn: 1,
      step: 1,
      what: `tool.${n}`,
      attempt: 1,
      upTo: CALLS_A_SESSION,
      since: new Date(now).toISOString(),
      deadline: new Date(now + 600_000).toISOString(),
      op: 'call',
      n,
      callId: `call-${n}`,
      effectId: `${TENANT}.${session}.1.1.${n}`,
      name,
      effective: args,
      workspace: this.workspace,
      readonly: false,
      sandbox: 'none',
      servers: {},
    }));
  }

  private commitOf(session: string, { name, args }: Tool): Commit {
    const agent = agentSpecSchema.parse({ name: 'bench', model: { chain: ['none'] }, tools: ['*'] });
    const calls = Array.from({ length: CALLS_A_SESSION }, (_, n): SessionEvent => ({
      type: 'tool.call',
      data: {
        ...{ turn: 1, step: 1, n, callId: `call-${n}`, name },
        ...{ arguments: JSON.stringify(args), effective: args, decision: 'allow' },
      },
    }));
    const events: SessionEvent[] = [
      { type: 'session.created', data: { agent, source: 'startup', workspace: this.workspace } },
      ...calls,
    ];
    return {
      tenant: TENANT,
      session,
      causation: `begin-${session}`,
      actor: 'bench',
      at: new Date().toISOString(),
      events: events.map((event, sequence) => ({ ...event, sequence, version: 1 })),
    };
  }
}
