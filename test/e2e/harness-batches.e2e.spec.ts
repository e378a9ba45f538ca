import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { subjects, type HarnessEvent } from '@jetloop/contracts';
import { ProcessSystem } from '../faults/support/process-system.js';
import { comparable, logOf, problemsOf } from '../faults/support/session-log.js';

/** A batch, or the end, of an attempt: as a bridge sends it. `key` makes it another message of the same. */
interface Sent {
  readonly attempt: number;
  readonly from: number;
  readonly body: object;
}

const raw = (attempt: number, n: number): HarnessEvent => ({
  type: 'harness.raw',
  data: { source: 'session/update/plan', value: { attempt, n } },
});
const batch = (attempt: number, from: number, events: HarnessEvent[]): Sent => ({
  ...{ attempt, from },
  body: { kind: 'harness.events', events },
});
const end = (attempt: number, from: number, outcome: object): Sent => ({
  ...{ attempt, from },
  body: { kind: 'harness.finished', exit: null, stderr: '', ...outcome },
});
const call: HarnessEvent = {
  type: 'tool.call',
  data: { turn: 1, step: 1, n: 0, callId: 'c1', name: 'Read', arguments: '{}', effective: {}, decision: 'allow' },
};
const result: HarnessEvent = {
  type: 'tool.result',
  data: { turn: 1, step: 1, n: 0, callId: 'c1', content: [], isError: false, durationMs: 1 },
};

const lost = { name: 'Transport', code: 'child_gone', message: 'gone' };
/** The first attempt breaks off; the second one completes. */
const first = [batch(1, 0, [raw(1, 0), raw(1, 1)]), batch(1, 2, [call]), end(1, 3, { outcome: 'error', error: lost })];
const second = [
  batch(2, 0, [raw(2, 0)]),
  batch(2, 1, [call, raw(2, 1)]),
  batch(2, 3, [result, raw(2, 2), raw(2, 3)]),
  batch(2, 6, [raw(2, 4)]),
  end(2, 7, { outcome: 'completed', stopReason: 'end_turn' }),
];
const pick = (sent: readonly Sent[], ...order: number[]) => order.flatMap((at) => sent[at] ?? []);

/** What comes while the first attempt is open, and what comes behind it. */
const ways: Record<string, [readonly Sent[], readonly Sent[]]> = {
  'in order': [first, second],
  doubled: [pick(first, 0, 0, 1, 1, 2), pick(second, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4)],
  swapped: [pick(first, 1, 0, 2), pick(second, 1, 0, 3, 2, 4)],
  'the end first': [pick(first, 2, 1, 0), pick(second, 4, 3, 2, 1, 0)],
  late: [first, pick(second, 0, 1, 0, 2, 1, 0, 3, 2, 4, 3)],
  'of an old attempt': [
    first,
    [...first, ...pick(second, 0, 1), ...first, ...pick(second, 2, 3), ...first, second[4]!],
  ],
  overlapping: [
    first,
    [
      ...pick(second, 0),
      batch(2, 0, [raw(2, 0), call, raw(2, 1)]),
      batch(2, 1, [call, raw(2, 1), result, raw(2, 2), raw(2, 3), raw(2, 4)]),
      second[4]!,
    ],
  ],
};

describe('batches of an external agent on their way to the orchestrator', () => {
  let system: ProcessSystem;
  beforeAll(async () => {
    // No bridge: the test is one.
    system = await ProcessSystem.start({});
    await system.spawn('loop-orchestrator');
  });
  afterAll(() => system.stop());

  const until = async (session: string, type: string) => {
    for await (const { event } of system.client.events(session, { signal: AbortSignal.timeout(30_000) }))
      if (event.type === type) return;
    throw new Error(`${session}: expected ${type}`);
  };

  const send = async (session: string, sent: readonly Sent[]) => {
    for (const { attempt, from, body } of sent) {
      const commandId = `${system.tenant}.${session}.1.1.acp.${attempt}`;
      const message = Buffer.from(JSON.stringify({ commandId, turn: 1, attempt, from, ...body }));
      // Without an id: what the server would take for the same is another message here.
      await system.bus.publisher.publish(subjects.reply(system.tenant, session, 'acp'), message);
    }
  };

  const play = async (way: string) => {
    const session = way.replaceAll(' ', '-');
    const harness = { kind: 'acp' as const, command: 'none', permissionPolicy: 'deny' as const, maxAttempts: 2 };
    await system.client.create({
      session,
      agent: { spec: { name: 'external', tools: [], harness } },
      workspace: system.folder,
      prompt: 'go',
    });
    await until(session, 'step.start');
    const [before, behind] = ways[way]!;
    await send(session, before);
    await until(session, 'work.deferred');
    await send(session, behind);
    await until(session, 'turn.end');
    // What was sent last has been passed over as well: a command behind it is answered.
    await system.client.inject(session, 'done');
    const log = await logOf(system.client, session);
    const last = log.findIndex(({ type }) => type === 'turn.end');
    return { log: log.slice(0, last + 1), session };
  };

  it('A34 doubled, swapped, late, overlapping, of an old attempt: the same log', async () => {
    const played = await Promise.all(Object.keys(ways).map(async (way) => ({ way, ...(await play(way)) })));
    const [expected] = played;
    expect(problemsOf(expected!.log)).toEqual([]);
    const values = expected!.log.flatMap(({ type, data }) =>
      type === 'harness.raw' ? [(data as { value: unknown }).value] : [],
    );
    expect(values).toEqual(
      [raw(1, 0), raw(1, 1), ...[0, 1, 2, 3, 4].map((n) => raw(2, n))].map(({ data }) => 'value' in data && data.value),
    );
    const wanted = comparable(expected!.log, expected!.session);
    for (const { way, log, session } of played) expect([way, comparable(log, session)]).toEqual([way, wanted]);
  });
});
