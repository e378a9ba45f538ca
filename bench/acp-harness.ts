// npm run bench -- acp-harness: how fast an external agent comes into the log, and what an idle one weighs (docs/benchmarks.md).
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { JetloopClient } from '@jetloop/client';
import { isKnownEvent, type RecordedEvent } from '@jetloop/contracts';
import { applyTopology, Bus, decodeCommit } from '@jetloop/messaging';
import { startInfra } from '@jetloop/testing';
import type { AgentTask } from './acp-harness-agent.ts';
import { residentMemory } from './process-usage.ts';
import { startService } from './service-process.ts';
import { median, quantile } from './statistics.ts';

const PROGRAM = join(import.meta.dirname, 'acp-harness-agent.ts');
const TENANT = 'bench';
const UPDATES = 10_000;
const TOGETHER = 16;
const UPDATES_TOGETHER = 1_500;
const CHUNKS = 200_000;
const TICKS = 1_000;
const PAUSE_MS = 5;
const IDLE = 100;
/** Idle agents that begin at once: more would take the handshakes of the first ones over their time. */
const BEGIN_AT_ONCE = 8;
const SETTLE_MS = 5_000;

interface AcpHarnessMeasurement {
  readonly eventsPerSecond: number;
  readonly eventsPerSecondTogether: number;
  readonly chunksPerSecond: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** MB of the bridge: before, with the idle agents, without them, with them again, without them; and of an agent's own process. */
  readonly idleMb: { readonly bridge: readonly number[]; readonly agent: number };
  readonly load: { readonly before: number; readonly after: number };
}

/** Sessions of the bench, as their commits arrive. */
class Sessions {
  private readonly watchers = new Set<(session: string, event: RecordedEvent) => void>();
  private n = 0;
  private readonly client: JetloopClient;
  private readonly folder: string;

  constructor(client: JetloopClient, bus: Bus, folder: string) {
    this.client = client;
    this.folder = folder;
    bus.nats.subscribe(`feed.${TENANT}.*`, {
      callback: (_error, message) => {
        const session = message.subject.split('.')[2] ?? '';
        for (const event of decodeCommit(message.data).events)
          if (isKnownEvent(event)) for (const watch of this.watchers) watch(session, event);
      },
    });
  }

  /** Begins a turn of a fresh session; resolves with it once `until` says so of one of its events. */
  async run(task: AgentTask, until: (event: RecordedEvent) => boolean): Promise<string> {
    const session = `s${this.n++}`;
    const come = Promise.withResolvers<string>();
    const stop = this.watch((of, event) => {
      if (of !== session) return;
      if (event.type === 'turn.error') come.reject(new Error(event.data.error.message));
      else if (until(event)) come.resolve(session);
    });
    const harness = {
      kind: 'acp' as const,
      command: process.execPath,
      args: [PROGRAM],
      permissionPolicy: 'ask' as const,
    };
    const agent = { spec: { name: 'bench', tools: [], harness } };
    await this.client.create({ session, agent, workspace: this.folder, prompt: JSON.stringify(task) });
    return come.promise.finally(stop);
  }

  watch(watch: (session: string, event: RecordedEvent) => void): () => void {
    this.watchers.add(watch);
    return () => this.watchers.delete(watch);
  }

  cancel(session: string): Promise<unknown> {
    return this.client.cancel(session);
  }
}

const isEnd = ({ type }: RecordedEvent) => type === 'turn.end';

/** Starts nats-server, the orchestrator and the bridge, each a process, and plays caller and agents. */
export async function measureAcpHarness(): Promise<AcpHarnessMeasurement> {
  const folder = await mkdtemp(join(tmpdir(), 'jetloop-bench-'));
  const stops: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  const before = loadavg()[0] ?? NaN;
  try {
    const infra = await startInfra({ need: { postgres: false }, dataDir: folder });
    stops.push(() => infra.stop());
    const bus = await Bus.connect({ url: infra.natsUrl, name: 'bench' });
    stops.push(() => bus.close());
    await applyTopology(bus);
    const env = {
      NATS_URL: infra.natsUrl,
      JETLOOP_WORKSPACE_ROOTS: folder,
      JETLOOP_ALLOW_INLINE_AGENTS: 'true',
      JETLOOP_SLOTS: String(IDLE + TOGETHER),
    };
    const orchestrator = await startService({ service: 'loop-orchestrator', env, nodeOptions: [] });
    stops.push(() => orchestrator.stop());
    const bridge = await startService({ service: 'acp-bridge', env, nodeOptions: [] });
    stops.push(() => bridge.stop());
    const client = await JetloopClient.connect({ natsUrl: infra.natsUrl, tenant: TENANT, actor: 'bench' });
    stops.push(() => client.close());
    const sessions = new Sessions(client, bus, folder);
    await sessions.run({ does: 'updates', count: 2_000 }, isEnd); // warms up
    // First: what the floods leave behind in the bridge's heap would hide what an idle agent needs.
    const idleMb = await idle(sessions, bridge.pid);
    return {
      eventsPerSecond: await rate(sessions, 1, { does: 'updates', count: UPDATES }),
      eventsPerSecondTogether: await rate(sessions, TOGETHER, { does: 'updates', count: UPDATES_TOGETHER }),
      chunksPerSecond: await rate(sessions, 1, { does: 'chunks', count: CHUNKS }),
      latencyMs: await latency(sessions),
      idleMb,
      load: { before, after: loadavg()[0] ?? NaN },
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Frames a second, from the first handshake in the log to the last answer to a prompt there. */
async function rate(sessions: Sessions, together: number, task: AgentTask): Promise<number> {
  let start = 0;
  let end = 0;
  const stop = sessions.watch((_session, event) => {
    if (event.type !== 'harness.raw') return;
    if (event.data.source === 'session/new' && start === 0) start = performance.now();
    if (event.data.source === 'session/prompt') end = performance.now();
  });
  await Promise.all(Array.from({ length: together }, () => sessions.run(task, isEnd)));
  stop();
  return (together * task.count) / ((end - start) / 1_000);
}

/** Milliseconds from before a frame is written to the pipe to its event in the journal's feed. */
async function latency(sessions: Sessions): Promise<AcpHarnessMeasurement['latencyMs']> {
  const values: number[] = [];
  const stop = sessions.watch((_session, event) => {
    if (event.type !== 'harness.raw' || !event.data.source.endsWith('session_info_update')) return;
    const { title } = event.data.value as { title: string };
    values.push(Number(process.hrtime.bigint() - BigInt(title)) / 1e6);
  });
  await sessions.run({ does: 'ticks', count: TICKS, pauseMs: PAUSE_MS }, isEnd);
  stop();
  const counted = values.slice(TICKS / 10);
  return { p50: quantile(counted, 0.5), p99: quantile(counted, 0.99) };
}

/** Twice: what the second time adds is what was not given back. */
async function idle(sessions: Sessions, bridge: number): Promise<AcpHarnessMeasurement['idleMb']> {
  const bridgeMb = [await residentMemory(bridge)];
  let agents: number[] = [];
  for (let round = 0; round < 2; round++) {
    const { open, pids } = await beginIdle(sessions);
    await sleep(SETTLE_MS);
    const [during = NaN, ...each] = await Promise.all([bridge, ...pids].map(residentMemory));
    agents = each;
    await Promise.all(open.map((session) => cancelled(sessions, session)));
    await sleep(SETTLE_MS);
    bridgeMb.push(during, await residentMemory(bridge));
  }
  return { bridge: bridgeMb, agent: median(agents) };
}

async function beginIdle(sessions: Sessions): Promise<{ readonly open: string[]; readonly pids: number[] }> {
  const pids: number[] = [];
  const open: string[] = [];
  const isAsked = (event: RecordedEvent) => {
    if (event.type !== 'approval.requested') return false;
    pids.push(Number(event.data.question.split(' ').at(-1)));
    return true;
  };
  while (open.length < IDLE) {
    const some = Array.from({ length: Math.min(BEGIN_AT_ONCE, IDLE - open.length) }, () =>
      sessions.run({ does: 'ask', count: 1 }, isAsked),
    );
    open.push(...(await Promise.all(some)));
  }
  return { open, pids: pids.slice(-IDLE) };
}

async function cancelled(sessions: Sessions, session: string): Promise<void> {
  const end = Promise.withResolvers<undefined>();
  const stop = sessions.watch((of, event) => {
    if (of === session && isEnd(event)) end.resolve(undefined);
  });
  await sessions.cancel(session);
  await end.promise.finally(stop);
}

/** @returns the figures as a table of Markdown */
export async function benchAcpHarness(): Promise<string> {
  const { eventsPerSecond, eventsPerSecondTogether, chunksPerSecond, latencyMs, idleMb, load } =
    await measureAcpHarness();
  const rows = [
    [`durable events/s, one attempt (${UPDATES})`, eventsPerSecond.toFixed(0)],
    [`durable events/s, ${TOGETHER} attempts together (${UPDATES_TOGETHER} each)`, eventsPerSecondTogether.toFixed(0)],
    [`chunk frames/s, one attempt (${CHUNKS})`, chunksPerSecond.toFixed(0)],
    [`pipe to JOURNAL, p50 / p99 ms (${TICKS} frames)`, `${latencyMs.p50.toFixed(1)} / ${latencyMs.p99.toFixed(1)}`],
    [
      `bridge, MB: before / ${IDLE} agents idle in ask / gone / ${IDLE} again / gone`,
      idleMb.bridge.map((one) => one.toFixed(0)).join(' / '),
    ],
    ['an agent process of the benchmark itself, MB', idleMb.agent.toFixed(0)],
    ['load average before / after', `${load.before.toFixed(1)} / ${load.after.toFixed(1)}`],
  ];
  return ['| harness | measured |', '| --- | --- |', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}
