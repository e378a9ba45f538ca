import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import { isWhole, type ModelScript } from '@jetloop/testing';
import type { ProcessSystem } from './process-system.js';
import { counterModule, effectsOf, runsOf, startToolTurn, type ToolTurn } from './tool-turns.js';

/** Where a runner dies, and what shows on a call that it died at. */
export interface KillPoint {
  readonly name: string;
  /** `JETLOOP_FAULT` of a round (from 0); undefined: it is killed frozen, with all calls at hand and none begun. */
  fault?(round: number): string;
  /** Calls that nothing holds, by round. */
  readonly free: readonly string[];
  /** What can show on the call that it died at. */
  readonly struck: readonly Partial<CallFate>[];
}

/** What became of a call whose runner died. */
export interface CallFate {
  readonly target: string;
  readonly code: string;
  /** The runners that ran its tool. */
  readonly runs: readonly ('doomed' | 'next')[];
  readonly effects: number;
  /** The runner that died had answered it. */
  readonly wasAnswered: boolean;
  /** What must never be, in words. */
  readonly wrong: readonly string[];
}

/** Calls that get no further than this in the runner that dies. */
const held: Readonly<Record<string, Partial<CallFate>>> = {
  'count-before': { code: 'outcome_unknown', runs: ['doomed'], effects: 0 },
  'count-after': { code: 'outcome_unknown', runs: ['doomed'], effects: 1 },
  'again-before': { code: 'ok', runs: ['doomed', 'next'], effects: 1 },
  'again-after': { code: 'ok', runs: ['doomed', 'next'], effects: 2 },
};
const targets = Object.keys(held);
export const CALLS_OF_ROUND = isWhole ? 25 : 6;
/** Replies before the first one of a call: the list of tools, of each session. */
const LISTS = CALLS_OF_ROUND;

export const killPoints: readonly KillPoint[] = [
  {
    name: 'before it starts any call',
    free: ['count-free', 'again-free'],
    struck: [{ code: 'ok', runs: ['next'], effects: 1 }],
  },
  {
    name: 'when a call is in the ledger and not begun',
    fault: (round) => `ledger.after-start:kill@${2 + 1 + round}`,
    free: ['count-free'],
    struck: [{ code: 'outcome_unknown', runs: [], effects: 0 }],
  },
  {
    name: 'after an effect',
    fault: (round) => `effect.after:kill@${1 + round}`,
    free: ['count-free'],
    struck: [{ code: 'outcome_unknown', runs: ['doomed'], effects: 1 }],
  },
  {
    name: 'before a reply',
    fault: (round) => `reply.before:kill@${LISTS + 1 + round}`,
    free: ['count-free', 'again-free'],
    struck: [
      { target: 'count-free', code: 'ok', runs: ['doomed'], effects: 1, wasAnswered: false },
      { target: 'again-free', code: 'ok', runs: ['doomed', 'next'], effects: 2, wasAnswered: false },
    ],
  },
];

/** Kills a runner in many calls, and lets another one end them. */
export class KillRounds {
  /** Opened when the models may make their calls: those that are held, and those that are not. */
  private gates = { held: Promise.withResolvers<undefined>(), free: Promise.withResolvers<undefined>() };
  private asked = 0;

  readonly models: Readonly<Record<string, ModelScript>> = Object.fromEntries(
    [...targets, 'count-free', 'again-free'].map((target) => [target, this.callOf(target)]),
  );

  async run(system: ProcessSystem, point: KillPoint, round: number): Promise<void> {
    this.gates = { held: Promise.withResolvers(), free: Promise.withResolvers() };
    this.asked = 0;
    const fault = point.fault?.(round);
    const free = point.free[round % point.free.length] ?? '';
    const env = { JETLOOP_TOOL_MODULES: counterModule };
    const doomed = await system.spawn('tool-runner', {
      ...{ ...env, COUNTER_HOLDS: 'true' },
      ...(fault === undefined ? {} : { JETLOOP_FAULT: fault }),
    });
    const answered = answeredIn(system);
    const name = `t7-${killPoints.indexOf(point)}-${round}`;
    const calls = await Promise.all(
      Array.from({ length: CALLS_OF_ROUND }, async (_, n) => {
        const target = targets[n] ?? free;
        return { target, turn: await startToolTurn(system, `${name}-${n}`, target) };
      }),
    );
    await until('all models are asked', () => this.asked === CALLS_OF_ROUND);
    if (fault === undefined) {
      doomed.freeze();
      this.gates.held.resolve(undefined);
      this.gates.free.resolve(undefined);
      await until('all calls are delivered', async () => (await delivered(system)) === CALLS_OF_ROUND);
      doomed.kill9();
    } else {
      this.gates.held.resolve(undefined);
      const holding = calls.filter(({ target }) => target in held);
      await until('what is held is held', async () => (await Promise.all(holding.map(isHeld))).every(Boolean));
      this.gates.free.resolve(undefined);
    }
    expect({ fault, end: await doomed.exited }).toEqual({ fault, end: 'SIGKILL' });
    if (fault !== undefined) expect(doomed.lines).toContain(`fault ${fault.replace(/@.*/, '').replace(':', ': ')}`);
    const wereAnswered = await answered.end();

    const next = await system.spawn('tool-runner', env);
    const fates = await Promise.all(
      calls.map(({ target, turn }) =>
        fateOf(system, { target, turn, doomed: doomed.pid, next: next.pid }, wereAnswered),
      ),
    );
    expect(await next.stop()).toBe(0);
    for (const { wrong } of fates) expect(wrong).toEqual([]);
    for (const fate of fates) {
      const due = fault === undefined ? point.struck[0] : held[fate.target];
      if (due) expect(fate).toMatchObject(due);
    }
    const struck = fates.filter((fate) => point.struck.some((due) => isDeepStrictEqual({ ...fate, ...due }, fate)));
    expect({ fates, struck: struck.length > 0 }).toEqual({ fates, struck: true });
  }

  private callOf(target: string): ModelScript {
    const [tool, hold] = target.split('-');
    const args = { before: 50, after: 50, ...(hold === 'free' ? {} : { hold }) };
    const name = tool === 'again' ? 'count_again' : 'count';
    return ({ messages }) => {
      if (messages.some(({ role }) => role === 'tool')) return { text: 'done' };
      this.asked += 1;
      return { after: this.gates[hold === 'free' ? 'free' : 'held'].promise, calls: [{ name, arguments: args }] };
    };
  }
}

const toolOf = (target: string) => (target.startsWith('again') ? 'count_again' : 'count');

async function isHeld({ target, turn }: { target: string; turn: ToolTurn }): Promise<boolean> {
  const tool = toolOf(target);
  const reached = target.endsWith('before') ? await runsOf(turn, tool) : await effectsOf(turn, tool);
  return reached.length === 1;
}

async function fateOf(
  system: ProcessSystem,
  { target, turn, doomed, next }: { target: string; turn: ToolTurn; doomed: number; next: number },
  wereAnswered: ReadonlySet<string>,
): Promise<CallFate> {
  const { reason, results, problems } = await turn.ended;
  const tool = toolOf(target);
  const effects = await effectsOf(turn, tool);
  const runs = await runsOf(turn, tool);
  const [result] = results;
  const code = result?.isError === true ? (result.error?.code ?? 'no code') : 'ok';
  const id = `${system.tenant}.${turn.session}.1.1.0`;
  const wrong = (isWrong: boolean, what: string) => (isWrong ? [`${turn.session} (${target}): ${what}`] : []);
  return {
    ...{ target, code, effects: effects.length, wasAnswered: wereAnswered.has(turn.session) },
    runs: runs.map(({ pid }) => (pid === doomed ? 'doomed' : 'next')),
    wrong: [
      ...problems,
      ...wrong(JSON.stringify(reason) !== '{"kind":"completed"}', `ended ${JSON.stringify(reason)}`),
      ...wrong(results.length !== 1, `${results.length} results`),
      ...wrong(
        [...effects, ...runs.map(({ effectId }) => effectId)].some((one) => one !== id),
        'another effect id',
      ),
      ...wrong(
        runs.some(({ pid }) => pid !== doomed && pid !== next),
        'a run in no runner',
      ),
      ...(tool === 'count'
        ? [
            ...wrong(runs.length > 1, `${runs.length} runs`),
            ...wrong(code === 'ok' && effects.length !== 1, 'a result without its effect'),
            ...wrong(code !== 'ok' && code !== 'outcome_unknown', `the result is ${code}`),
          ]
        : [...wrong(effects.length === 0, 'no effect'), ...wrong(code !== 'ok', `the result is ${code}`)]),
    ],
  };
}

/** The sessions whose call is answered until the `end`. */
function answeredIn({ bus, tenant }: ProcessSystem) {
  const sessions = new Set<string>();
  const subscription = bus.nats.subscribe(`cmd.session.${tenant}.*.tool`, {
    callback: (_error, message) => {
      const { result } = message.json<{ result?: { status: string } }>();
      if (result?.status === 'result') sessions.add(message.subject.split('.')[3] ?? '');
    },
  });
  return {
    end: async () => {
      await bus.nats.flush();
      subscription.unsubscribe();
      return sessions;
    },
  };
}

async function delivered({ bus }: ProcessSystem): Promise<number> {
  return (await bus.api<{ num_ack_pending: number }>('CONSUMER.INFO.COMMANDS.tool-runner')).num_ack_pending;
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`it did not come about that ${what}`);
}
