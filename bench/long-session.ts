// npm run bench -- long-session: what a long log costs, and what an orchestrator's kept sessions weigh.
import { readFile } from 'node:fs/promises';
import { JetloopClient } from '@jetloop/client';
import type { BenchOptions } from './options.ts';
import { median } from './statistics.ts';
import { startService } from './service-process.ts';
import { startSystem, type BenchSystem } from './system.ts';
import { agent, TENANT } from './workload.ts';

/** Events of the long session, at least. */
const EVENTS = 2_000;
const TURNS_COMPARED = 9;
const KEPT_SESSIONS = 5_000;
const TIMEOUT_MS = 60_000;

/** The options of the bench that have a meaning here. */
const OPTIONS: BenchOptions = {
  sessions: [1],
  runs: 1,
  syncs: ['default'],
  policies: false,
  think: 0,
  natsThreads: undefined,
  profile: undefined,
  json: false,
};

/** Measures, and says it in four lines. */
export async function longSession(): Promise<string> {
  const system = await startSystem(OPTIONS, 'default');
  try {
    const client = await JetloopClient.connect({ natsUrl: system.natsUrl, tenant: TENANT, actor: 'bench' });
    try {
      return await measure(system, client);
    } finally {
      await client.close();
    }
  } finally {
    await system.stop();
  }
}

async function measure(system: BenchSystem, client: JetloopClient): Promise<string> {
  const [{ session, length }, other] = await Promise.all([grow(system, client), grow(system, client)]);
  const long: number[] = [];
  const fresh: number[] = [];
  for (let n = 0; n < TURNS_COMPARED; n++) {
    long.push(await turn(client, session));
    const short = await client.create({ agent: { spec: agent }, workspace: system.workspace });
    fresh.push(await turn(client, short.session));
  }
  const cold = await coldLoad(system, client, [session, other.session]);
  const lines = [
    `events of the long session: ${length + 1}`,
    `a turn of 10 steps, p50 of ${TURNS_COMPARED}: long ${ms(median(long))}, fresh ${ms(median(fresh))}, ratio ${(median(long) / median(fresh)).toFixed(2)}`,
    `a session that an orchestrator has never seen, first command answered: a short one in ${ms(cold.short)}; the long one as the first of its kind in a process that just started in ${ms(cold.first)}, as the second in ${ms(cold.second)}`,
    `an orchestrator with ${KEPT_SESSIONS} kept sessions: ${cold.kept.toFixed(0)} MB resident, ${cold.empty.toFixed(0)} MB before`,
  ];
  return lines.join('\n');
}

/** A session of so many events. */
async function grow(system: BenchSystem, client: JetloopClient): Promise<{ session: string; length: number }> {
  const { session } = await client.create({ agent: { spec: agent }, workspace: system.workspace });
  let length = 0;
  while (length < EVENTS) {
    await turn(client, session);
    length = (await client.lastSequence(session)) ?? 0;
  }
  return { session, length };
}

/** A new orchestrator answers for a session that it has never seen; then it keeps many. */
async function coldLoad(system: BenchSystem, client: JetloopClient, [first, second]: readonly [string, string]) {
  const short = await client.create({ agent: { spec: agent }, workspace: system.workspace });
  const running = system.services.find(({ name }) => name === 'loop-orchestrator');
  await running?.stop();
  const env = {
    NATS_URL: system.natsUrl,
    JETLOOP_WORKSPACE_ROOTS: system.workspace,
    JETLOOP_ALLOW_INLINE_AGENTS: 'true',
  };
  const replica = await startService({ service: 'loop-orchestrator', env, nodeOptions: [] });
  try {
    await client.create({ agent: { spec: agent }, workspace: system.workspace }); // its first command warms the process
    const times = {
      short: await answered(client, short.session),
      first: await answered(client, first),
      second: await answered(client, second),
    };
    const empty = await residentMb(replica.pid);
    for (let begun = 0; begun < KEPT_SESSIONS; begun += 50) {
      const some = Array.from({ length: 50 }, () =>
        client.create({ agent: { spec: agent }, workspace: system.workspace }),
      );
      await Promise.all(some);
    }
    return { ...times, empty, kept: await residentMb(replica.pid) };
  } finally {
    await replica.stop();
  }
}

/** Milliseconds until a command that changes nothing is answered. */
async function answered(client: JetloopClient, session: string): Promise<number> {
  const began = performance.now();
  await client.cancel(session);
  return performance.now() - began;
}

async function turn(client: JetloopClient, session: string): Promise<number> {
  const began = performance.now();
  const { messageId, sequence } = await client.prompt(session, 'Read the note ten times.');
  const { reason } = await client.turnOf(session, messageId, {
    from: sequence,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (reason.kind !== 'completed') throw new Error(`A turn ended ${JSON.stringify(reason)}: expected completed`);
  return performance.now() - began;
}

async function residentMb(pid: number): Promise<number> {
  const kib = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib ?? 0) / 1_024;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
