import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isKnownEvent, type RecordedEvent } from '@jetloop/contracts';
import { isWhole, type ServiceProcess } from '@jetloop/testing';
import { ProcessSystem } from './support/process-system.js';
import { logOf, problemsOf } from './support/session-log.js';
import { callsTool } from './support/tool-turns.js';

/** Milliseconds without hook-policy. */
const OUTAGE_MS = isWhole ? 30_000 : 2_000;
const SESSIONS = 8;
const STEPS = 8;
jest.setTimeout(90_000 + OUTAGE_MS);

const models = {
  works: callsTool('bash', { command: 'echo as the model wanted it' }, { times: STEPS, delayMs: 50 }),
};
/** Whatever runs went through it: it shows in the arguments. */
const marks = {
  name: 'marks',
  tenants: ['*'],
  agents: ['*'],
  policies: [
    {
      ...{ name: 'mark', order: 0, mode: 'enforce', seams: ['pre-tool'], when: {} },
      decide: { rewrite: { arguments: { command: 'echo as the policy wanted it' } } },
    },
  ],
};
const sessions = Array.from({ length: SESSIONS }, (_, index) => `outage-${index}`);
const others = ['loop-orchestrator', 'llm-router', 'tool-runner'];

describe('H4 hook-policy stopped under load', () => {
  let system: ProcessSystem;
  let policies: ServiceProcess;

  beforeAll(async () => {
    system = await ProcessSystem.start({ models });
    await system.putPolicies('marks', marks);
    [policies] = await Promise.all([system.spawn('hook-policy'), ...others.map((service) => system.spawn(service))]);
  });
  afterAll(() => system.stop());

  const logs = async (): Promise<RecordedEvent[][]> =>
    Promise.all(sessions.map(async (session) => (await logOf(system.client, session)).filter(isKnownEvent)));
  const countOf = (all: RecordedEvent[][], type: string): number =>
    all.flat().filter((event) => event.type === type).length;

  it('no tool runs undecided, and all sessions finish after', async () => {
    const started = await Promise.all(
      sessions.map((session) =>
        system.client.create({
          ...{ session, workspace: system.folder, prompt: 'work' },
          agent: system.agent('works', { tools: ['bash'] }),
        }),
      ),
    );
    const ends = started.map(({ messageId }, index) =>
      system.client.turnOf(sessions[index] ?? '', messageId, { signal: AbortSignal.timeout(60_000 + OUTAGE_MS) }),
    );
    const finished = Promise.all(ends);
    finished.catch(() => undefined); // awaited at the end
    while (countOf(await logs(), 'tool.result') < SESSIONS) await new Promise((resolve) => setTimeout(resolve, 20));

    expect(await policies.stop()).toBe(0);
    // What was decided before it stopped may still run; after that nothing is recorded.
    await settled(async () => (await logs()).flat().length);
    const before = await logs();
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_MS));
    const during = await logs();
    expect(countOf(before, 'tool.call')).toBeLessThan(SESSIONS * STEPS);
    expect(during.map((log) => log.length)).toEqual(before.map((log) => log.length));
    expect(countOf(during, 'turn.end')).toBe(0);

    policies = await system.spawn('hook-policy');
    expect((await finished).map(({ reason }) => reason)).toEqual(sessions.map(() => ({ kind: 'completed' })));
    const after = await logs();
    for (const log of after) {
      expect(problemsOf(log)).toEqual([]);
      const calls = log.flatMap((event) => (event.type === 'tool.call' ? [event.data] : []));
      expect(calls).toHaveLength(STEPS);
      for (const { effective } of calls) expect(effective).toEqual({ command: 'echo as the policy wanted it' });
      const results = log.flatMap((event) =>
        event.type === 'tool.result' ? [JSON.stringify(event.data.content)] : [],
      );
      expect(results.filter((text) => text.includes('as the policy wanted it'))).toHaveLength(STEPS);
    }
  });
});

/** Waits until a number has not changed for a while. */
async function settled(ask: () => Promise<number>): Promise<void> {
  for (let last = -1, same = 0; same < 5;) {
    const now = await ask();
    same = now === last ? same + 1 : 0;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
