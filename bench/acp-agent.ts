// npm run bench -- acp-agent: how fast the log of a session comes to an editor (docs/benchmarks.md).
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentSpecSchema, type Commit, type SessionEvent } from '@jetloop/contracts';
import { applyTopology, Bus, Journal } from '@jetloop/messaging';
import { startInfra } from '@jetloop/testing';
import { quantile } from './statistics.ts';

const PROGRAM = join(import.meta.dirname, '../services/cli/bin/jetloop.js');
const TENANT = 'bench';
const LOADED_EVENTS = 10_000;
const EVENTS_A_COMMIT = 4;
const LATENCIES = 1_000;
const PAUSE_MS = 5;

export interface AcpAgentMeasurement {
  /** Milliseconds from before a commit to its frame on the editor's end of the pipe. */
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** Milliseconds of loads of 10,000 events, in order. */
  readonly loadMs: readonly number[];
  /** Updates that a load gave. */
  readonly updates: number;
}

/** Starts nats-server and `jetloop acp`, and plays the orchestrator and the editor. */
export async function measureAcpAgent(): Promise<AcpAgentMeasurement> {
  const folder = await mkdtemp(join(tmpdir(), 'jetloop-bench-'));
  const stops: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const infra = await startInfra({ need: { postgres: false }, dataDir: folder });
    stops.push(() => infra.stop());
    const bus = await Bus.connect({ url: infra.natsUrl, name: 'bench' });
    stops.push(() => bus.close());
    await applyTopology(bus);
    const editor = new Editor(infra.natsUrl);
    stops.push(() => {
      editor.kill();
    });
    await editor.call('initialize', { protocolVersion: 1 });
    const log = new Log(bus, 'loaded', folder);
    await log.write(LOADED_EVENTS);
    const loadMs: number[] = [];
    let updates = 0;
    for (let round = 0; round < 3; round++) {
      const [before, start] = [editor.updates, performance.now()];
      await editor.call('session/load', { sessionId: 'loaded', cwd: folder, mcpServers: [] });
      loadMs.push(performance.now() - start);
      updates = editor.updates - before;
    }
    return { latencyMs: await latency(bus, editor, folder), loadMs, updates };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function latency(bus: Bus, editor: Editor, folder: string): Promise<AcpAgentMeasurement['latencyMs']> {
  const log = new Log(bus, 'followed', folder);
  await log.write(8);
  await editor.call('session/load', { sessionId: 'followed', cwd: folder, mcpServers: [] });
  const values: number[] = [];
  for (let n = 0; n < LATENCIES; n++) {
    const next = editor.nextUpdate();
    const start = performance.now();
    await log.write(1);
    await next;
    values.push(performance.now() - start);
    await sleep(PAUSE_MS);
  }
  const counted = values.slice(LATENCIES / 10);
  return { p50: quantile(counted, 0.5), p99: quantile(counted, 0.99) };
}

/** A session with one endless step of calls and results. */
class Log {
  private sequence = 0;
  private last = 0;
  private readonly journal: Journal;

  private readonly session: string;
  private readonly workspace: string;

  constructor(bus: Bus, session: string, workspace: string) {
    this.session = session;
    this.workspace = workspace;
    this.journal = new Journal(bus);
  }

  async write(count: number): Promise<void> {
    for (let left = count; left > 0;) {
      const size = Math.min(left, EVENTS_A_COMMIT);
      const events = Array.from({ length: size }, () => {
        const sequence = this.sequence++;
        return { ...this.event(sequence), sequence, version: 1 };
      });
      const commit: Commit = {
        ...{ tenant: TENANT, session: this.session, causation: `c${this.sequence}`, actor: 'bench' },
        at: new Date().toISOString(),
        events,
      };
      this.last = Number(await this.journal.commit(commit, this.last));
      left -= size;
    }
  }

  private event(sequence: number): SessionEvent {
    const source = { kind: 'user' as const };
    if (sequence === 0) {
      const agent = agentSpecSchema.parse({ name: 'bench', model: { chain: ['bench'] } });
      return { type: 'session.created', data: { agent, source: 'startup', workspace: this.workspace } };
    }
    if (sequence === 1)
      return {
        type: 'turn.start',
        data: { turn: 1, trigger: { kind: 'message', source }, messageIds: ['m1'] },
      };
    if (sequence === 2) return { type: 'step.start', data: { turn: 1, step: 1 } };
    const n = Math.floor((sequence - 3) / 2);
    const position = { turn: 1, step: 1, n, callId: `call_${n}` };
    if (sequence % 2 === 1) {
      const effective = { path: `src/file-${n}.ts` };
      const call = { name: 'read_file', arguments: JSON.stringify(effective), effective, decision: 'allow' as const };
      return { type: 'tool.call', data: { ...position, ...call } };
    }
    const content = [{ type: 'text' as const, text: `${n} `.padEnd(400, 'x') }];
    return { type: 'tool.result', data: { ...position, content, isError: false, durationMs: 1 } };
  }
}

/** `jetloop acp` at the other end of two pipes. */
class Editor {
  updates = 0;
  private id = 0;
  private answer: ((frame: { error?: unknown }) => void) | undefined;
  private update: (() => void) | undefined;
  private readonly child;

  constructor(natsUrl: string) {
    const args = [PROGRAM, 'acp', '--agent', 'bench', '--tenant', TENANT, '--nats', natsUrl];
    this.child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const frame = JSON.parse(line) as { id?: number; method?: string; error?: unknown };
      if (frame.id === this.id && frame.method === undefined) this.answer?.(frame);
      if (frame.method !== 'session/update') return;
      this.updates++;
      this.update?.();
    });
  }

  async call(method: string, params: unknown): Promise<void> {
    const answered = new Promise<{ error?: unknown }>((resolve) => {
      this.answer = resolve;
    });
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++this.id, method, params })}\n`);
    const { error } = await answered;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  }

  nextUpdate(): Promise<void> {
    return new Promise((resolve) => {
      this.update = resolve;
    });
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}

/** @returns the figures as lines of text */
export async function benchAcpAgent(): Promise<string> {
  const { latencyMs, loadMs, updates } = await measureAcpAgent();
  return [
    `log to stdout: p50 ${latencyMs.p50.toFixed(1)} ms, p99 ${latencyMs.p99.toFixed(1)} ms (${LATENCIES} commits of one event)`,
    `load of ${LOADED_EVENTS} events: ${loadMs.map((one) => (one / 1_000).toFixed(2)).join(', ')} s (${updates} updates)`,
  ].join('\n');
}
