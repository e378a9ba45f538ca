import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { isWhole, type ModelScript } from '@jetloop/testing';
import { spoken } from '../e2e/support/messages.js';
import { Lane, type KnownTurn } from './support/lane.js';
import { callsTool } from './support/tool-turns.js';

jest.setTimeout(120_000);

const LANES = isWhole ? 3 : 2;

/** Where a point is passed. */
const sides = ['before', 'after'] as const;

/** Created with its prompt, tools listed, an answer with a call, its result, the last answer. */
const plain: KnownTurn = { agent: 'plain', passes: { commit: 5, send: 4, outcome: 1, ack: 5 }, requests: 2 };
/**
 * The same with policies asked about the session's start, the prompt, the step, the call, its result (sent on without a
 * commit) and the going on, where they stop the turn.
 */
const guarded: KnownTurn = { agent: 'guarded', passes: { commit: 9, send: 9, outcome: 1, ack: 10 }, requests: 1 };

/** Before its second step it is compacted: policies are asked for it and about it, and the model sums up. */
const compacting: KnownTurn = {
  agent: 'compacting',
  passes: { commit: 9, send: 8, outcome: 1, ack: 9 },
  requests: 3,
};
/** Somebody is asked about the call, and approves. */
const asking: KnownTurn = {
  agent: 'asking',
  passes: { commit: 7, send: 6, outcome: 2, ack: 7 },
  requests: 2,
  meanwhile: async ({ system, session, until }) => {
    await until('approval.requested');
    await system.client.decideApproval(session, '1-1-0', 'approved');
  },
};
/** Cancelled while its model is silent. */
const cancelled: KnownTurn = {
  agent: 'cancelled',
  passes: { commit: 4, send: 4, outcome: 2, ack: 4 },
  requests: 1,
  end: { kind: 'aborted', reason: 'cancelled' },
  meanwhile: async ({ system, session, asked }) => {
    await asked(1);
    await system.client.cancel(session);
  },
};

const turns = [plain, guarded, compacting, asking, cancelled];
const models: Record<string, ModelScript> = {
  plain: callsTool('list_dir'),
  guarded: callsTool('list_dir', { path: 'elsewhere' }),
  asking: callsTool('list_dir'),
  compacting: (request) => {
    const said = spoken(request);
    if (said.at(-1)?.includes('write the summary alone')) return { text: 'They looked around.' };
    return said.some((line) => line.includes('They looked around.'))
      ? { text: 'done' }
      : { calls: [{ id: 'call_1', name: 'list_dir' }] };
  },
  cancelled: () => ({ after: new Promise(() => undefined) }),
};
const rule = (seam: string, decide: unknown, when = {}) => ({ name: seam, seams: [seam], when, decide });
const guard = {
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

const sets = [
  guard,
  { name: 'asking', agents: ['asking'], policies: [rule('pre-tool', { ask: 'May it?' })] },
  {
    name: 'compacting',
    agents: ['compacting'],
    policies: [
      rule('pre-step', { compact: true }, { 'estimated-tokens': { gt: 12 } }),
      rule('pre-compact', { block: 'it is too long' }, { 'estimated-tokens': { gt: 100_000 } }),
    ],
  },
];

/**
 * What a death behind one point leaves is nearly what a death before the next one leaves: one side of each is tried, and both
 * where a plain turn, and one with policies, are tried whole.
 */
const bothSides = new Set(isWhole ? [plain, guarded] : []);
const sideOf: Readonly<Record<string, (typeof sides)[number]>> = {
  commit: 'after',
  send: 'before',
  outcome: 'after',
  ack: 'before',
};
/** In part one pass of each point is tried, early or late by turn and point. */
function passesTried(passes: number, row: number, column: number): number[] {
  const all = Array.from({ length: passes }, (_, index) => index + 1);
  return isWhole ? all : [all[(3 * row + 2 * column) % passes] ?? 1];
}

const cases = turns.flatMap((turn, row) =>
  Object.entries(turn.passes).flatMap(([point, passes], column) =>
    sides
      .filter((side) => bothSides.has(turn) || side === sideOf[point])
      .flatMap((side) => passesTried(passes, row, column).map((pass) => `${point}.${side}:kill@${pass}`))
      .map((fault) => ({ turn, agent: turn.agent, fault, log: Promise.withResolvers<unknown>() })),
  ),
);

describe('an orchestrator that is killed', () => {
  const lanes: Lane[] = [];
  const undisturbed = new Map<KnownTurn, unknown>();
  beforeAll(async () => {
    // One after another: each starts five processes at once.
    while (lanes.length < LANES) lanes.push(await Lane.start(models, sets));
    const toLearn = turns.values();
    await Promise.all(
      lanes.map(async (lane) => {
        for (const turn of toLearn) undisturbed.set(turn, await lane.undisturbed(turn));
      }),
    );
    const toTry = cases.values();
    for (const lane of lanes) void tryAll(lane, toTry);
  });
  afterAll(() => Promise.all(lanes.map((lane) => lane.stop())));

  it.each(cases)(
    'L38 by $fault in a turn of $agent: another one completes it, with the log of an undisturbed run',
    async ({ turn, log }) => {
      expect(await log.promise).toEqual(undisturbed.get(turn));
    },
  );

  it('L38 no model was asked twice', () => {
    const asked = (agent: string) => lanes.flatMap(({ system }) => system.provider.requests(agent)).length;
    const runs = (agent: string) => 1 + cases.filter((one) => one.agent === agent).length;
    for (const { agent, requests } of turns)
      expect({ agent, asked: asked(agent) }).toEqual({ agent, asked: requests * runs(agent) });
  });
});

/** Tries what no other lane tries, one after another: each test waits for what is its own. */
async function tryAll(lane: Lane, toTry: Iterable<(typeof cases)[number]>): Promise<void> {
  for (const { turn, fault, log } of toTry) {
    log.promise.catch(() => undefined); // its test tells
    await lane.killedAt(turn, fault).then(log.resolve, log.reject);
  }
}
