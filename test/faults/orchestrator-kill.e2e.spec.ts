import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Lane, type KnownTurn } from './support/lane.js';
import { callsTool } from './support/tool-turns.js';
import { isWhole } from '@jetloop/testing';

jest.setTimeout(120_000);

const LANES = 3;

/** Where a point is passed. */
const sides = ['before', 'after'] as const;

/** Created with its prompt, tools listed, an answer with a call, its result, the last answer. */
const plain: KnownTurn = { agent: 'plain', passes: { commit: 5, send: 4, outcome: 1, ack: 5 } };
/**
 * The same with policies asked about the session's start, the prompt, the step, the call, its result (sent on without a
 * commit) and the going on, where they stop the turn.
 */
const guarded: KnownTurn = { agent: 'guarded', passes: { commit: 9, send: 9, outcome: 1, ack: 10 } };

const turns = [plain, guarded];
const models = { plain: callsTool('list_dir'), guarded: callsTool('list_dir', { path: 'elsewhere' }) };
const rule = (seam: string, decide: unknown, when = {}) => ({ name: seam, seams: [seam], when, decide });
const policies = {
  name: 'guard',
  agents: ['guarded'],
  policies: [
    rule('session-start', { context: 'You are watched.' }),
    rule('prompt-submit', { redact: { patterns: ['secret'], with: '***' }, context: 'It was rewritten.' }),
    rule('pre-step', { context: 'Be brief.' }),
    rule('pre-tool', { rewrite: { arguments: { path: '.' } } }),
    rule('post-tool', { redact: { patterns: ['models'], with: '***' }, context: 'So it is.' }),
    rule('turn-continuation', { stop: true }, { default: 'continue' }),
  ],
};

/** What a death behind one point leaves is nearly what a death before the next one leaves: in part one side of each is tried. */
const sideOf: Readonly<Record<string, (typeof sides)[number]>> = {
  commit: 'after',
  send: 'before',
  outcome: 'after',
  ack: 'before',
};

const cases = turns.flatMap((turn) =>
  Object.entries(turn.passes).flatMap(([point, passes]) =>
    sides
      .filter((side) => isWhole || side === sideOf[point])
      .map((side) => ({
        ...{ turn, point: `${point}.${side}`, passes, agent: turn.agent },
      })),
  ),
);

describe('an orchestrator that is killed', () => {
  let lanes: Lane[] = [];
  beforeAll(async () => {
    lanes = await Promise.all(Array.from({ length: LANES }, () => Lane.start(models, policies)));
    await Promise.all(
      lanes.map(async (lane) => {
        for (const turn of turns) await lane.learn(turn);
      }),
    );
  });
  afterAll(() => Promise.all(lanes.map((lane) => lane.stop())));

  it.each(cases)(
    'L38 at $point of a $agent turn, each of $passes: another one completes the turn, with the log of an undisturbed run',
    async ({ turn, point, passes }) => {
      const faults = Array.from({ length: passes }, (_, index) => `${point}:kill@${index + 1}`).values();
      await Promise.all(
        lanes.map(async (lane) => {
          for (const fault of faults) await lane.killedAt(turn, fault);
        }),
      );
    },
  );

  it('L38 no model was asked twice', () => {
    const requests = (agent: string) => lanes.flatMap(({ system }) => system.provider.requests(agent));
    const runs = (agent: string) => LANES + cases.reduce((sum, one) => sum + (one.agent === agent ? one.passes : 0), 0);
    expect(requests('plain')).toHaveLength(2 * runs('plain'));
    expect(requests('guarded')).toHaveLength(runs('guarded'));
  });
});
