// The client process: drives sessions through @jetloop/client and says how long their steps took.
import { once } from 'node:events';
import { JetloopClient, type SessionEntry } from '@jetloop/client';
import { clientTaskSchema, type ClientMessage, type ClientTask } from './client-report.ts';
import { agentOn, STEPS, TENANT } from './workload.ts';

const TURN_TIMEOUT_MS = 150_000;
/** Services run for days: what is measured is their compiled code. Before this many turns the compiler has a core's share. */
const WARM_TURNS = 1_024;
const WARM_SESSIONS = 64;

process.once('disconnect', () => process.exit(1));

const task = clientTaskSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
const client = await JetloopClient.connect({ natsUrl: task.natsUrl, tenant: TENANT, actor: 'bench' });
await run(WARM_TURNS, WARM_SESSIONS, 'bench');
say({ kind: 'warm' });
await once(process, 'message');
const started = performance.now();
const times = await run(task.turns, task.sessions, task.thinks ? 'thinking' : 'bench');
say({ kind: 'report', turns: task.turns, seconds: (performance.now() - started) / 1_000, ...times });
// The benchmark looks at this process, then ends it.

/** So many turns, each in a fresh session, `sessions` at a time. */
async function run(
  turns: number,
  sessions: number,
  model: 'bench' | 'thinking',
): Promise<{ stepMs: number[]; turnMs: number[] }> {
  const stepMs: number[] = [];
  const turnMs: number[] = [];
  let begun = 0;
  const lane = async () => {
    while (begun++ < turns) turnMs.push(await oneTurn(task, model, stepMs));
  };
  await Promise.all(Array.from({ length: sessions }, lane));
  return { stepMs, turnMs };
}

async function oneTurn({ workspace }: ClientTask, model: 'bench' | 'thinking', stepMs: number[]): Promise<number> {
  const began = performance.now();
  const { session, messageId, sequence } = await client.create({
    agent: { spec: agentOn(model) },
    workspace,
    prompt: 'Read the note ten times.',
  });
  let steps = 0;
  let stepBegan = 0;
  let last = 'nothing';
  const onEvent = ({ event }: SessionEntry) => {
    last = `${event.type} (${event.sequence})`;
    if (event.type !== 'step.start') return;
    const now = performance.now();
    if (steps > 0) stepMs.push(now - stepBegan);
    steps++;
    stepBegan = now;
  };
  const signal = AbortSignal.timeout(TURN_TIMEOUT_MS);
  const { reason } = await client
    .turnOf(session, messageId, { from: sequence, signal, onEvent })
    .catch((cause: unknown) => {
      throw new Error(`Session ${session} stands still after ${steps} steps, its last event is ${last}`, { cause });
    });
  if (reason.kind !== 'completed' || steps !== STEPS + 1)
    throw new Error(
      `A turn ended ${JSON.stringify(reason)} after ${steps} steps: expected completed after ${STEPS + 1}`,
    );
  return performance.now() - began;
}

function say(message: ClientMessage): void {
  process.send?.(message);
}
