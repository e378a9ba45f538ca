import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { deadLetterSchema } from '@jetloop/contracts';
import type { ServiceProcess } from '@jetloop/testing';
import { ProcessSystem } from './support/process-system.js';
import { begunIn, callsTool, counterModule, effectsOf, startToolTurn, type ToolTurn } from './support/tool-turns.js';
import { isWhole } from './support/whole.js';

jest.setTimeout(180_000);

const env = { JETLOOP_TOOL_MODULES: counterModule };
/** Calls over all rounds of T7. */
const RUNS = isWhole ? 200 : 40;
const models = {
  count: callsTool('count', { before: 50, after: 50 }),
  count_again: callsTool('count_again', { before: 50, after: 50 }),
  'count-slowly': callsTool('count', { before: 4_000 }),
};

/** Where the runner dies: at a point of its code, or, frozen with the commands at hand, before it looks at any. */
const rounds = ['before it starts any', 'ledger.after-start:kill@3', 'effect.after:kill@5', 'reply.before:kill@4'];

describe('effects', () => {
  let system: ProcessSystem;
  beforeAll(async () => {
    system = await ProcessSystem.start({ models });
    await Promise.all([system.spawn('llm-router'), system.spawn('loop-orchestrator')]);
  });
  afterAll(() => system.stop());

  it.each(rounds)(
    'T7 a runner killed %s: at most one effect, or the same id again where that is as good',
    async (where) => {
      const each = Math.ceil(RUNS / rounds.length / 2);
      const fault = where.includes(':') ? { JETLOOP_FAULT: where } : {};
      const doomed = await system.spawn('tool-runner', { ...env, ...fault });
      if (!where.includes(':')) doomed.freeze();
      const names = ['count', 'count_again'] as const;
      const turns = await Promise.all(
        Array.from({ length: each * 2 }, async (_, n) => {
          const tool = names[n % 2] ?? 'count';
          const session = `t7-${where.replaceAll(/\W/g, '-')}-${n}`;
          return { tool, turn: await startToolTurn(system, session, tool) };
        }),
      );
      if (!where.includes(':')) {
        await untilDelivered(system);
        doomed.kill9();
      }
      expect(await doomed.exited).toBe('SIGKILL');
      const next = await system.spawn('tool-runner', env);
      for (const { tool, turn } of turns) expect(await judge(system, tool, turn)).toEqual([]);
      expect(await next.stop()).toBe(0);
    },
  );

  it('T8 two runners and a tool that takes four ack waits: one run', async () => {
    const runners = await Promise.all([system.spawn('tool-runner', env), system.spawn('tool-runner', env)]);
    const turns = await Promise.all([1, 2, 3].map((n) => startToolTurn(system, `t8-${n}`, 'count-slowly')));
    for (const turn of turns) {
      expect(await turn.ended).toMatchObject({ reason: { kind: 'completed' }, results: [{ isError: false }] });
      expect(await effectsOf(turn, 'count')).toHaveLength(1);
    }
    await Promise.all(runners.map((runner) => runner.stop()));
  });

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

/** What is wrong with a call whose runner may have died, in words. */
async function judge(system: ProcessSystem, tool: string, turn: ToolTurn): Promise<string[]> {
  const { reason, results, problems } = await turn.ended;
  const effects = await effectsOf(turn, tool);
  const code = results[0]?.isError === true ? results[0].error?.code : 'ok';
  const id = `${system.tenant}.${turn.session}.1.1.0`;
  const wrong = (isWrong: boolean, what: string) => (isWrong ? [`${turn.session}: ${what}`] : []);
  return [
    ...problems,
    ...wrong(JSON.stringify(reason) !== '{"kind":"completed"}', `ended ${JSON.stringify(reason)}`),
    ...wrong(results.length !== 1, `${results.length} results`),
    ...wrong(
      effects.some((effect) => effect !== id),
      `effects ${effects.join()}`,
    ),
    ...(tool === 'count'
      ? [
          ...wrong(effects.length > 1, `${effects.length} effects`),
          ...wrong(code === 'ok' && effects.length !== 1, 'a result without its effect'),
          ...wrong(code !== 'ok' && code !== 'outcome_unknown', `the result is ${code}`),
        ]
      : [...wrong(effects.length === 0, 'no effect'), ...wrong(code !== 'ok', `the result is ${code}`)]),
  ];
}

async function untilDelivered({ bus }: ProcessSystem): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const { num_ack_pending: pending } = await bus.api<{ num_ack_pending: number }>(
      'CONSUMER.INFO.COMMANDS.tool-runner',
    );
    if (pending > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('no command was delivered');
}

async function untilDead({ bus, tenant }: ProcessSystem) {
  for (let tries = 0; tries < 200; tries++) {
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
