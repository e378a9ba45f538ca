import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { deadLetterSchema } from '@jetloop/contracts';
import { isWhole, type ServiceProcess } from '@jetloop/testing';
import { CALLS_OF_ROUND, killPoints, KillRounds } from './support/kill-round.js';
import { ProcessSystem } from './support/process-system.js';
import { begunIn, callsTool, counterModule, effectsOf, runsOf, startToolTurn } from './support/tool-turns.js';

jest.setTimeout(180_000);

const env = { JETLOOP_TOOL_MODULES: counterModule };
/** Of T8: the tool takes four of them. */
const ACK_WAIT_MS = isWhole ? 5_000 : 2_000;
/** Calls over all rounds of T7. */
const RUNS = isWhole ? 200 : 24;
const kills = new KillRounds();
const models = {
  ...kills.models,
  count: callsTool('count'),
  'count-slowly': callsTool('count', { before: 4_000 }),
};

describe('effects', () => {
  let system: ProcessSystem;
  beforeAll(async () => {
    // A runner that only stalls has its calls to itself: they come to it once.
    system = await ProcessSystem.start({ models, ackWaitMs: 5_000 });
    await Promise.all([system.spawn('llm-router'), system.spawn('loop-orchestrator')]);
  });
  afterAll(() => system.stop());

  it.each(killPoints)(
    'T7 a runner killed $name: at most one run of what has an effect, and the same id again for what is idempotent',
    async (point) => {
      const rounds = RUNS / killPoints.length / CALLS_OF_ROUND;
      for (let round = 0; round < rounds; round++) await kills.run(system, point, round);
    },
  );

  it('F2 a runner stopped in a call, given up as unknown and woken: one result, and what came of it lies in DEAD', async () => {
    const sleeper = await system.spawn('tool-runner', env);
    const begun = begunIn(system, 'f2');
    const turn = await startToolTurn(system, 'f2', 'count-slowly');
    await begun;
    sleeper.freeze();
    const other = await system.spawn('tool-runner', env);
    const { results, problems } = await turn.ended;
    expect(results).toMatchObject([{ isError: true, error: { code: 'outcome_unknown' } }]);
    expect(problems).toEqual([]);
    sleeper.thaw();
    const letter = await untilDead(system);
    expect(letter).toMatchObject({
      class: 'late',
      service: 'tool-runner',
      subject: `cmd.session.${system.tenant}.f2.tool`,
    });
    expect(letter.body).toHaveProperty('digest');
    expect(await effectsOf(turn, 'count')).toHaveLength(1);
    expect((await startToolTurn(system, 'f2-next', 'count').then(({ ended }) => ended)).reason).toEqual({
      kind: 'completed',
    });
    await stopAll([sleeper, other]);
  });
});

describe('long calls', () => {
  let system: ProcessSystem;
  beforeAll(async () => {
    const long = { before: 4 * ACK_WAIT_MS };
    const slow = { count: callsTool('count', long), count_again: callsTool('count_again', long) };
    system = await ProcessSystem.start({ models: slow, ackWaitMs: ACK_WAIT_MS });
    await Promise.all([system.spawn('llm-router'), system.spawn('loop-orchestrator')]);
  });
  afterAll(() => system.stop());

  it('T8 two runners and a tool that takes four ack waits: one run, with an effect or idempotent', async () => {
    await Promise.all([system.spawn('tool-runner', env), system.spawn('tool-runner', env)]);
    const calls = ['count', 'count_again', 'count', 'count_again'].map(async (tool, n) => {
      const turn = await startToolTurn(system, `t8-${n}`, tool);
      const end = await turn.ended;
      return { tool, end, runs: await runsOf(turn, tool), effects: await effectsOf(turn, tool) };
    });
    for (const { end, runs, effects } of await Promise.all(calls)) {
      expect(end).toMatchObject({ reason: { kind: 'completed' }, results: [{ isError: false }] });
      expect({ runs: runs.length, effects: effects.length }).toEqual({ runs: 1, effects: 1 });
    }
  });
});

async function untilDead({ bus, tenant }: ProcessSystem) {
  for (let tries = 0; tries < 600; tries++) {
    const { message } = await bus
      .api<{ message?: { data: string } }>('STREAM.MSG.GET.DEAD', { last_by_subj: `dead.tool-runner.${tenant}` })
      .catch(() => ({ message: undefined }));
    if (message) return deadLetterSchema.parse(JSON.parse(Buffer.from(message.data, 'base64').toString('utf8')));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('no dead letter came');
}

async function stopAll(runners: readonly ServiceProcess[]): Promise<void> {
  await Promise.all(runners.map((runner) => runner.stop()));
}
