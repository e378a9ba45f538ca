import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { seams, type Seam, type SeamSubject } from '@jetloop/contracts';
import { z } from 'zod';
import { definePolicy } from './plugin/define-policy.js';
import { RunningPolicyService } from './testing/running-service.fixture.spec.js';
import { subjectOf, textBlock } from './testing/subjects.js';

/** Who was asked, in order, and what each was shown. */
const asked: { who: string; subject: SeamSubject }[] = [];
const says = definePolicy({
  name: 'says',
  options: z.object({ who: z.string(), answer: z.unknown() }),
  seams: Object.fromEntries(
    seams.map((seam) => [
      seam,
      (subject: SeamSubject, { options }: { options: { who: string; answer: unknown } }) => {
        asked.push({ who: options.who, subject });
        return options.answer;
      },
    ]),
  ),
});

let service: RunningPolicyService;
beforeAll(async () => {
  service = await RunningPolicyService.start({ plugins: [says] });
});
afterAll(() => service.stop());

/** A policy of a set: its name, what it answers, its order. */
type Voice = readonly [name: string, answer: object, order?: number];
let agents = 0;

/** Puts sets for an agent of its own, and asks as that agent. Names of sets and agents count up. */
async function decide(seam: Seam, ...sets: readonly (readonly Voice[])[]) {
  const agent = `agent-${++agents}`;
  const subject = { ...subjectOf(seam), agent };
  for (const [n, voices] of sets.entries()) {
    const name = `s${n}-${agent}`;
    const policies = voices.map(([who, answer, order = 0]) => {
      const plugin = { name: 'says', options: { who: `s${n}/${who}`, answer } };
      return { name: who, seam, order, plugin };
    });
    await service.put({ name, agents: [agent], policies }, subject);
  }
  asked.length = 0;
  const { result, observed } = await service.ask(subject);
  const told = JSON.stringify({ result, observed }).replaceAll(`-${agent}/`, '/');
  return { ...(JSON.parse(told) as { result: unknown; observed: unknown }), asked: asked.map(({ who }) => who) };
}

const allow = { decision: 'allow' };
const deny = (reason: string) => ({ decision: 'deny', reason });
const block = (reason: string) => ({ decision: 'block', reason });
const ask = (question: string, more: object = {}) => ({ decision: 'ask', question, ...more });
const rewrite = (command: string, more: object = {}) => ({ decision: 'allow', arguments: { command }, ...more });
const content = (text: string) => ({ decision: 'allow', content: [textBlock(text)] });
const adds = (text: string) => ({ context: [textBlock(text)] });
const added = (policy: string, text: string) => ({ policy, content: [textBlock(text)] });
const goOn = (reason?: string) => ({ decision: 'continue', ...(reason === undefined ? {} : { reason }) });

type Row = readonly [what: string, seam: Seam, voices: readonly Voice[], decision: object];
const table: readonly Row[] = [
  ['all allow', 'pre-tool', [['a', allow]], { decision: 'allow', policies: [], context: [] }],
  [
    'a rewrite is stronger than allow',
    'pre-tool',
    [
      ['a', rewrite('x')],
      ['b', allow],
    ],
    { decision: 'allow', arguments: { command: 'x' }, policies: ['s0/a'], context: [] },
  ],
  [
    'the later rewrite stands on the earlier one, and both are named',
    'pre-tool',
    [
      ['b', rewrite('second')],
      ['a', rewrite('first')],
    ],
    { decision: 'allow', arguments: { command: 'second' }, policies: ['s0/a', 's0/b'], context: [] },
  ],
  [
    'ask is stronger than a rewrite before and behind it, and asks for what was rewritten',
    'pre-tool',
    [
      ['a', rewrite('x')],
      ['b', ask('sure?')],
      ['c', rewrite('y')],
    ],
    {
      ...{ decision: 'ask', policy: 's0/b', question: 'sure?', arguments: { command: 'y' } },
      ...{ policies: ['s0/a', 's0/c'], context: [] },
    },
  ],
  [
    'questions are joined by a blank line, and the shortest time counts',
    'pre-tool',
    [
      ['b', ask('two?', { expiresInMs: 3_000 })],
      ['a', ask('one?', { expiresInMs: 5_000 })],
    ],
    {
      ...{ decision: 'ask', policy: 's0/a, s0/b', question: 'one?\n\ntwo?', expiresInMs: 3_000 },
      ...{ policies: [], context: [] },
    },
  ],
  [
    'deny is stronger than ask and rewrite',
    'pre-tool',
    [
      ['a', ask('sure?')],
      ['b', rewrite('x')],
      ['c', deny('no')],
    ],
    { decision: 'deny', policy: 's0/c', reason: 'no' },
  ],
  [
    'a deny keeps the contexts so far and its own, in order',
    'pre-tool',
    [
      ['a', { ...allow, ...adds('one') }],
      ['b', { ...deny('no'), ...adds('two') }],
    ],
    { decision: 'deny', policy: 's0/b', reason: 'no', context: [added('s0/a', 'one'), added('s0/b', 'two')] },
  ],
  [
    'block is stronger than a rewritten prompt',
    'prompt-submit',
    [
      ['a', content('x')],
      ['b', block('no')],
    ],
    { decision: 'block', policy: 's0/b', reason: 'no' },
  ],
  [
    'a blocked result has its feedback and the contexts',
    'post-tool',
    [
      ['a', { decision: 'accept', content: [textBlock('***')], ...adds('cut') }],
      ['b', { decision: 'block', feedback: 'no' }],
    ],
    { decision: 'block-result', policy: 's0/b', feedback: 'no', context: [added('s0/a', 'cut')] },
  ],
  [
    'contexts add up in order',
    'session-start',
    [
      ['b', { decision: 'none', ...adds('two') }],
      ['c', { decision: 'none', ...adds('three') }],
      ['a', { decision: 'none', ...adds('one') }],
    ],
    { decision: 'none', context: [added('s0/a', 'one'), added('s0/b', 'two'), added('s0/c', 'three')] },
  ],
  [
    'compaction is the wish of all who asked for it',
    'pre-step',
    [
      ['a', { decision: 'compact' }],
      ['b', { decision: 'compact' }],
      ['c', { decision: 'none' }],
    ],
    { decision: 'compact', policy: 's0/a, s0/b', context: [] },
  ],
  [
    'reasons to continue are joined by a blank line',
    'turn-continuation',
    [
      ['a', goOn('one')],
      ['b', goOn()],
      ['c', goOn('two')],
    ],
    { decision: 'continue', policy: 's0/a, s0/b, s0/c', reason: 'one\n\ntwo' },
  ],
  [
    'stop is stronger than continue',
    'turn-continuation',
    [
      ['a', goOn('one')],
      ['b', { decision: 'stop' }],
    ],
    { decision: 'stop', policy: 's0/b' },
  ],
  [
    'one objection is enough against a compaction',
    'pre-compact',
    [
      ['a', allow],
      ['b', block('not now')],
    ],
    { decision: 'block', policy: 's0/b', reason: 'not now' },
  ],
];

describe('H2 several policies at one seam, through the running service', () => {
  it.each(table)('H2 %s (%s)', async (_what, seam, voices, decision) => {
    expect((await decide(seam, voices)).result).toEqual({ status: 'decided', decision });
  });

  it('H2 they run in ascending order, then by name, of all sets together', async () => {
    const first: Voice[] = [
      ['c', allow],
      ['b', allow, 5],
      ['z', allow, -1],
    ];
    const second: Voice[] = [
      ['a', allow, 5],
      ['y', allow, -1],
      ['d', allow],
    ];
    expect((await decide('pre-tool', first, second)).asked).toEqual(['s0/z', 's1/y', 's0/c', 's1/d', 's0/b', 's1/a']);
  });

  it('H2 order comes before strength: the first deny ends it, and nobody behind it is asked', async () => {
    const { result, asked: who } = await decide('pre-tool', [
      ['a', deny('late'), 3],
      ['b', allow, 1],
      ['c', deny('first'), 2],
    ]);
    expect(result).toEqual({ status: 'decided', decision: { decision: 'deny', policy: 's0/c', reason: 'first' } });
    expect(who).toEqual(['s0/b', 's0/c']);
  });

  it('H2 what an end of it makes void is recorded, with the policy and why', async () => {
    const { observed } = await decide('prompt-submit', [
      ['a', { ...content('x'), ...adds('note') }],
      ['b', block('no')],
    ]);
    const reason = 'without effect: s0/b decided block';
    expect(observed).toEqual([
      { policy: 's0/a', decision: 'rewrite', reason },
      { policy: 's0/a', decision: 'context', reason },
    ]);
  });

  it.each([
    ['prompt-submit', content('new'), { content: [textBlock('new')] }],
    ['pre-tool', rewrite('new'), { arguments: { command: 'new' } }],
    ['pre-tool', ask('sure?', { arguments: { command: 'new' } }), { arguments: { command: 'new' } }],
    [
      'post-tool',
      { decision: 'accept', content: [textBlock('new')] },
      { result: { content: [textBlock('new')], isError: false } },
    ],
  ] as const)('H2 each sees what the earlier ones rewrote (%s, %j)', async (seam, answer, shown) => {
    const silent = { decision: seam === 'post-tool' ? 'accept' : 'allow' };
    await decide(seam, [
      ['a', silent],
      ['b', answer],
      ['c', silent],
    ]);
    const original = { ...subjectOf(seam), agent: `agent-${agents}` };
    expect(asked.slice(0, 2).map(({ subject }) => subject)).toEqual([original, original]);
    expect(asked[2]?.subject).toMatchObject(shown);
  });
});
